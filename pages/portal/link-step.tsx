/** What a link in a mail is for is asked first, and done by a click: a scanner that opens it does nothing. */
import { useState } from "preact/hooks";
import type { VerifyPortalOtpConfirmAnswer } from "../../client/src/database.ts";
import { useAction } from "../shared/action.ts";
import { isCode } from "../shared/api.ts";
import { Failure } from "../shared/errors.tsx";
import { momentText, money, visitorZone, zoneText } from "../shared/format.ts";
import { Button, Heading, Notice } from "../shared/ui.tsx";
import { dropEntry, type LinkEntry } from "./entry.ts";
import { anybody, type SessionAnswer } from "./session.ts";
import { texts as all } from "./texts/index.ts";

interface LinkStepProps {
  entry: LinkEntry;
  onSession: (answer: SessionAnswer) => void;
  /** On to the sign-in, and of whose client where that is known. */
  onLeave: (professionalId?: string) => void;
}

const { portal, mail } = anybody.functions;

export function LinkStep({ entry: { kind, token }, onSession, onLeave }: LinkStepProps) {
  const [done, setDone] = useState<Partial<VerifyPortalOtpConfirmAnswer>>();
  const act = useAction(async () => {
    if (kind === "manage") return onSession(await portal.openLink(token));
    if (kind === "confirm") setDone((await portal.confirm(token)) as VerifyPortalOtpConfirmAnswer);
    else setDone((await mail[kind === "unsubscribe" ? kind : "confirmAddress"](token)) ?? {});
    dropEntry();
  });
  const texts = all.link[kind];
  const refused = refusal(act.error);
  const { booking, order } = done ?? {};
  const became = booking ? bookingWords(booking.status) : order && all.confirmed.order;
  const { heading } = became ?? texts;
  return (
    <section class="card stack">
      <Heading key={String(done !== undefined)} title={heading}>
        {heading}
      </Heading>
      {!done && !refused && <p>{texts.lead}</p>}
      {booking && (
        <p>
          <strong dir="auto">{booking.service_name}</strong>
          <br />
          {momentText(booking.starts_at, visitorZone)} ({zoneText(visitorZone)})
        </p>
      )}
      {order && (
        <p>
          {all.orders.number(order.number)}: {money(order.total, order.currency)}
        </p>
      )}
      {done && <Notice kind="good">{became?.lead ?? ("done" in texts && texts.done)}</Notice>}
      {refused ? <Notice kind="error">{refused}</Notice> : <Failure error={act.error} />}
      <div class="actions">
        {!done && !refused && (
          <Button kind="primary" busy={act.busy} onClick={act.run}>
            {texts.button}
          </Button>
        )}
        {(done || refused) && kind !== "confirm-address" && (
          <Button onClick={() => onLeave((booking ?? order)?.professional_id)}>
            {all.link.onward}
          </Button>
        )}
      </div>
    </section>
  );
}

function bookingWords(status: string) {
  const { booking, request, over } = all.confirmed;
  return status === "confirmed" ? booking : status === "pending" ? request : over;
}

/** Why the link does not do what it was for, and will not: trying again is of no use. */
function refusal(error: unknown): string | undefined {
  if (isCode(error, "invalid_link")) return all.link.invalid;
  if (isCode(error, "slot_taken")) return all.confirmed.slotTaken;
  if (isCode(error, "hold_expired")) return all.confirmed.expired;
  if (isCode(error, "invalid_transition")) return all.confirmed.cancelled;
  return undefined;
}
