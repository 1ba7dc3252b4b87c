/** What a link in a mail is for is asked first, and done by a click: a scanner that opens it does nothing. */
import { useState } from "preact/hooks";
import type { VerifyPortalOtpConfirmAnswer } from "../../client/src/database.ts";
import { useAction } from "../shared/action.ts";
import { isCode } from "../shared/api.ts";
import { Failure } from "../shared/errors.tsx";
import { momentText, money, visitorZone, zoneText } from "../shared/format.ts";
import { Button, Heading, Notice, Words } from "../shared/ui.tsx";
import { keepEntry, type LinkEntry } from "./entry.ts";
import { anybody, type SessionAnswer } from "./session.ts";
import { texts as all } from "./texts/index.ts";

interface LinkStepProps {
  entry: LinkEntry;
  onSession: (answer: SessionAnswer) => void;
  /** On to the sign-in, and of whose client where that is known. */
  onLeave: (professionalId?: string) => void;
}

const { portal, mail } = anybody.functions;

/** Why a link does not do what it was for, and will not: trying again is of no use. */
const REFUSALS = ["invalid_link", "slot_taken", "hold_expired", "invalid_transition"] as const;

export function LinkStep({ entry: { kind, token }, onSession, onLeave }: LinkStepProps) {
  const [done, setDone] = useState<Partial<VerifyPortalOtpConfirmAnswer>>();
  const act = useAction(async () => {
    if (kind === "manage") return onSession(await portal.openLink(token));
    if (kind === "confirm") {
      setDone((await portal.confirm(token)) as VerifyPortalOtpConfirmAnswer);
    } else setDone((await mail[kind === "unsubscribe" ? kind : "confirmAddress"](token)) ?? {});
    keepEntry(null);
  });
  const refused = REFUSALS.find((code) => isCode(act.error, code));
  const { booking, order } = done ?? {};
  const { status = "" } = booking ?? {};
  const { pending, confirmed, over } = all.confirmed;
  const bookingWords = status === "pending" ? pending : status === "confirmed" ? confirmed : over;
  const became = order ? all.confirmed.order : booking ? bookingWords : undefined;
  const { heading, lead, button } = { ...all.link[kind], ...became };
  const said = became?.lead ?? all.done[kind];
  return (
    <section class="card stack">
      <Heading key={String(!done)} title={heading}>
        {heading}
      </Heading>
      {booking && (
        <Words>
          {`${booking.service_name}\n${momentText(booking.starts_at, visitorZone)} (${zoneText(visitorZone)})`}
        </Words>
      )}
      {order && (
        <p>{`${all.orders.number(order.number)}: ${money(order.total, order.currency)}`}</p>
      )}
      {done ? <Notice kind="good">{said}</Notice> : !refused && <p>{lead}</p>}
      {refused && <Notice kind="error">{all.refused[refused]}</Notice>}
      {!refused && <Failure error={act.error} />}
      <div class="actions">
        {!done && !refused ? (
          <Button kind="primary" busy={act.busy} onClick={act.run}>
            {button}
          </Button>
        ) : (
          <Button onClick={() => onLeave((booking ?? order)?.professional_id)}>{all.onward}</Button>
        )}
      </div>
    </section>
  );
}
