/** How somebody comes in: with a mailed code, or by what the link in a mail is for. */
import { useState } from "preact/hooks";
import type { BookingPage, VerifyPortalOtpConfirmAnswer } from "../../client/src/database.ts";
import { ApiError } from "../shared/api.ts";
import type { Loaded } from "../shared/asking.ts";
import { useAction } from "../shared/asking.ts";
import { Failure, fieldErrors } from "../shared/errors.tsx";
import { Form } from "../shared/form.tsx";
import { momentText, money, visitorZone, zoneText } from "../shared/format.ts";
import { goTo, useRoute } from "../shared/route.ts";
import { useStored } from "../shared/store.ts";
import { Button, Field, Heading, Loading, Notice, Words } from "../shared/ui.tsx";
import {
  anybody,
  type CodeEntry,
  keepEntry,
  type LinkEntry,
  type SessionAnswer,
} from "./session.ts";
import { texts as all } from "./texts/index.ts";

const texts = all.signIn;
const { portal, mail } = anybody.functions;

interface SignInProps {
  entry: CodeEntry | null;
  page: Loaded<BookingPage | null>;
  onSession: (answer: SessionAnswer) => void;
}

/** An address gets a code, and the code opens the session. */
export function SignIn({ entry, page, onSession }: SignInProps) {
  const { query } = useRoute();
  const [email, setEmail] = useStored("portal.email", "");
  const [mailed, setMailed] = useState(entry?.code);
  const [code, setCode] = useState(mailed ?? "");
  const shown = page.value?.professional;
  const professionalId = entry?.professional ?? shown?.id ?? "";
  const name = shown?.id === professionalId && shown.full_name;
  const isCodeStep = query.get("step") === "code" && email !== "";
  const send = useAction(async () => {
    await portal.sendCode({ email, professionalId });
    setMailed(undefined);
    setCode("");
    goTo({ step: "code" });
  });
  const verify = useAction(async () =>
    onSession(await portal.verifyCode({ email, code, professionalId })),
  );
  if (!professionalId && page.error) return <Failure error={page.error} again={page.again} />;
  if (!professionalId && page.value === undefined) return <Loading />;
  return (
    <section class="card stack">
      {entry?.ended && <Notice>{all.ended[entry.ended]}</Notice>}
      <Heading key={String(isCodeStep)} title={name ? all.titleWith(name) : all.title}>
        {isCodeStep ? texts.codeHeading : texts.heading}
      </Heading>
      {!professionalId ? (
        <p>{query.has("professional") ? texts.unknown : texts.nobody}</p>
      ) : !isCodeStep ? (
        <Form noValidate action={send} label={texts.send}>
          <p dir="auto">{name ? texts.lead(name) : texts.leadUnnamed}</p>
          <Field
            {...{ name: "email", type: "email", autocomplete: "email", label: texts.email }}
            {...{ value: email, onValue: setEmail, error: fieldErrors(send.error).email }}
            required
          />
        </Form>
      ) : (
        <Form
          {...{ noValidate: true, action: verify, label: texts.verify }}
          beside={<Button onClick={() => goTo({ step: null })}>{texts.again}</Button>}
        >
          <p dir="auto">{mailed ? texts.codeFromMail : texts.codeLead(email)}</p>
          <Field
            {...{ name: "code", inputMode: "numeric", autocomplete: "one-time-code" }}
            {...{ label: texts.code, hint: texts.codeHint, value: code }}
            onValue={(text) => setCode(text.replace(/\D/g, "").slice(0, 6))}
            error={fieldErrors(verify.error).code}
            required
          />
        </Form>
      )}
    </section>
  );
}

interface LinkStepProps {
  entry: LinkEntry;
  onSession: (answer: SessionAnswer) => void;
  /** On to the sign-in, and of whose client where that is known. */
  onLeave: (professional?: string) => void;
}

/** What a link in a mail is for is asked first, and done by a click: a scanner that opens it does nothing. */
export function LinkStep({ entry: { kind, token }, onSession, onLeave }: LinkStepProps) {
  const [done, setDone] = useState<Partial<VerifyPortalOtpConfirmAnswer>>();
  const act = useAction(async () => {
    if (kind === "manage") return onSession(await portal.openLink(token));
    if (kind === "confirm") setDone(await portal.confirm(token));
    else setDone((await mail[kind === "unsubscribe" ? kind : "confirmAddress"](token)) ?? {});
    keepEntry(null);
  });
  // Nothing of this gets better by trying again.
  const refused = act.error instanceof ApiError && all.refused[act.error.code];
  const { booking, order } = done ?? {};
  const became = booking ? all.confirmed[booking.status] : order && all.confirmed.order;
  const { heading, lead, button } = { ...all.link[kind], ...became };
  const about = booking
    ? `${booking.service_name}\n${momentText(booking.starts_at, visitorZone)} (${zoneText(visitorZone)})`
    : order && `${all.orders.number(order.number)}: ${money(order.total, order.currency)}`;
  return (
    <section class="card stack">
      <Heading key={String(!done)} title={heading}>
        {heading}
      </Heading>
      <Words>{about}</Words>
      {done && <Notice kind="good">{became?.lead ?? all.done[kind]}</Notice>}
      {refused && <Notice kind="error">{refused}</Notice>}
      {done || refused ? (
        <div class="actions">
          <Button onClick={() => onLeave((booking ?? order)?.professional_id)}>{all.onward}</Button>
        </div>
      ) : (
        <Form action={act} label={button}>
          <p>{lead}</p>
        </Form>
      )}
    </section>
  );
}
