/** What a link in a mail is for is asked first, and done by a click: a scanner that opens it does nothing. */
import { useState } from "preact/hooks";
import type { VerifyPortalOtpConfirmAnswer } from "../../client/src/database.ts";
import { useAction } from "../shared/action.ts";
import { ApiError } from "../shared/api.ts";
import { Form } from "../shared/form.tsx";
import { momentText, money, visitorZone, zoneText } from "../shared/format.ts";
import { Button, Heading, Notice, Words } from "../shared/ui.tsx";
import { anybody, keepEntry, type LinkEntry, type SessionAnswer } from "./session.ts";
import { texts } from "./texts/index.ts";

interface LinkStepProps {
  entry: LinkEntry;
  onSession: (answer: SessionAnswer) => void;
  /** On to the sign-in, and of whose client where that is known. */
  onLeave: (professional?: string) => void;
}

const { portal, mail } = anybody.functions;

export function LinkStep({ entry: { kind, token }, onSession, onLeave }: LinkStepProps) {
  const [done, setDone] = useState<Partial<VerifyPortalOtpConfirmAnswer>>();
  const act = useAction(async () => {
    if (kind === "manage") return onSession(await portal.openLink(token));
    if (kind === "confirm") setDone(await portal.confirm(token));
    else setDone((await mail[kind === "unsubscribe" ? kind : "confirmAddress"](token)) ?? {});
    keepEntry(null);
  });
  // Nothing of this gets better by trying again.
  const refused = act.error instanceof ApiError && texts.refused[act.error.code];
  const { booking, order } = done ?? {};
  const became = booking ? texts.confirmed[booking.status] : order && texts.confirmed.order;
  const { heading, lead, button } = { ...texts.link[kind], ...became };
  const about = booking
    ? `${booking.service_name}\n${momentText(booking.starts_at, visitorZone)} (${zoneText(visitorZone)})`
    : order && `${texts.orders.number(order.number)}: ${money(order.total, order.currency)}`;
  return (
    <section class="card stack">
      <Heading key={String(!done)} title={heading}>
        {heading}
      </Heading>
      <Words>{about}</Words>
      {done && <Notice kind="good">{became?.lead ?? texts.done[kind]}</Notice>}
      {refused && <Notice kind="error">{refused}</Notice>}
      {done || refused ? (
        <div class="actions">
          <Button onClick={() => onLeave((booking ?? order)?.professional_id)}>
            {texts.onward}
          </Button>
        </div>
      ) : (
        <Form action={act} label={button}>
          <p>{lead}</p>
        </Form>
      )}
    </section>
  );
}
