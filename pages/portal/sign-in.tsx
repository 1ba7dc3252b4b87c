/** How somebody comes in: with a mailed code, or by what the link in a mail is for. */
import { useState } from "preact/hooks";
import type * as api from "../../client/src/database.ts";
import { ApiError, publicApi } from "../shared/api.ts";
import { type Loaded, useAction } from "../shared/asking.ts";
import { Failure, fieldErrors } from "../shared/errors.tsx";
import { Form } from "../shared/form.tsx";
import { momentText, money, visitorZone, zoneText } from "../shared/format.ts";
import { goTo, START, useRoute } from "../shared/route.ts";
import { readStored, useStored, writeStored } from "../shared/store.ts";
import { Button, Field, Heading, Loading, Notice, Words } from "../shared/ui.tsx";
import { texts as all } from "./texts/index.ts";

const texts = all.signIn;
const { portal, mail } = publicApi.functions;

export const PURPOSES = ["manage", "confirm", "unsubscribe", "confirm-address"] as const;

/** Of a mail's link: a token by its purpose, or `professional`, `email` and `code` to sign in with. */
type Entry = Record<string, string | undefined>;

/**
 * What is in the fragment, which no server sees. It is taken out of the address at once, and kept for this tab until
 * it is used, so that a reload or another language asks the same question again.
 */
export function takeEntry(): Entry | null {
  if (location.hash === "") return readStored("portal.entry");
  const said: Entry = Object.fromEntries(new URLSearchParams(location.hash.slice(1)));
  const isCode = said.professional && said.email && said.code;
  // Anything else is of no mail, and asks nothing of whoever is signed in.
  const entry = isCode || PURPOSES.some((name) => said[name]) ? said : null;
  goTo({ ...START, step: isCode ? "code" : null }, { replace: true });
  if (isCode) writeStored("portal.email", said.email);
  writeStored("portal.entry", entry);
  return entry;
}

/** `ends` is in milliseconds since 1970 by the clock here, which may be wrong. */
export type Session = (api.PortalSession | api.BookingSession) & { ends: number };

/** Of a booking's link: that booking and nothing else. */
export const isLink = ({ client }: Session) => !("email" in client);

interface SignInProps {
  entry: Entry | null;
  /** Why nobody is signed in any more. */
  ended: string;
  page: Loaded<api.BookingPage | null>;
  onSession: (answer: Omit<Session, "ends">) => void;
}

/** An address gets a code, and the code opens the session. */
export function SignIn({ entry, ended, page, onSession }: SignInProps) {
  const { query } = useRoute();
  // To which the code goes; what is being typed is not that yet.
  const [known, know] = useStored("portal.email", "");
  const [email, setEmail] = useState(known);
  const [code, setCode] = useState(entry?.code ?? "");
  const shown = page.value?.professional;
  const professionalId = entry?.professional ?? shown?.id ?? "";
  const name = shown?.id === professionalId && shown.full_name;
  const isCodeStep = query.get("step") === "code" && known !== "";
  const send = useAction(async () => {
    await portal.sendCode({ email, professionalId });
    // An earlier code is worthless now, and so is what was said of it.
    writeStored("portal.entry", entry && { ...entry, code: undefined });
    verify.forget();
    know(email);
    setCode("");
    goTo({ step: "code" });
  });
  const verify = useAction(async () =>
    onSession(await portal.verifyCode({ email: known, code, professionalId })),
  );
  if (!professionalId && page.error) return <Failure error={page.error} again={page.again} />;
  if (!professionalId && page.value === undefined) return <Loading />;
  return (
    <section class="card stack">
      {ended && <Notice>{ended}</Notice>}
      <Heading key={String(isCodeStep)} title={name ? all.titleWith(name) : all.title}>
        {isCodeStep ? texts.codeHeading : texts.heading}
      </Heading>
      {!professionalId ? (
        <p>{query.has("professional") ? texts.unknown : texts.nobody}</p>
      ) : !isCodeStep ? (
        <Form noValidate action={send} label={texts.send}>
          <p dir="auto">{name ? texts.lead(name) : texts.leadUnnamed}</p>
          <Field
            {...{ name: "email", type: "email", autocomplete: "email", required: true }}
            {...{ label: texts.email, value: email, onValue: setEmail }}
            error={fieldErrors(send.error).email}
          />
        </Form>
      ) : (
        <Form
          {...{ noValidate: true, action: verify, label: texts.verify }}
          beside={<Button onClick={() => goTo({ step: null })}>{texts.again}</Button>}
        >
          <p dir="auto">{code && code === entry?.code ? texts.filledIn : texts.codeLead(known)}</p>
          <Field
            {...{ name: "code", inputMode: "numeric", autocomplete: "one-time-code" }}
            {...{ label: texts.code, hint: texts.codeHint, value: code, required: true }}
            onValue={(text) => setCode(text.replace(/\D/g, "").slice(0, 6))}
            error={fieldErrors(verify.error).code}
          />
        </Form>
      )}
    </section>
  );
}

interface LinkStepProps extends Pick<SignInProps, "onSession"> {
  purpose: (typeof PURPOSES)[number];
  token: string;
  /** On to the sign-in, and of whose client where that is known. */
  onLeave: (professional?: string) => void;
}

/** What a link in a mail is for is asked first, and done by a click: a scanner that opens it does nothing. */
export function LinkStep({ purpose, token, onSession, onLeave }: LinkStepProps) {
  const [done, setDone] = useState<Partial<api.VerifyPortalOtpConfirmAnswer>>();
  const act = useAction(async () => {
    if (purpose === "manage") return onSession(await portal.openLink(token));
    if (purpose === "confirm") setDone(await portal.confirm(token));
    else setDone((await mail[purpose === "unsubscribe" ? purpose : "confirmAddress"](token)) ?? {});
    writeStored("portal.entry", null);
  });
  const { booking, order } = done ?? {};
  const became = booking ? all.confirmed[booking.status] : order && all.confirmed.order;
  const { heading, lead, button, thanks } = { ...all.link[purpose], ...became };
  const about = booking
    ? `${booking.service_name}\n${momentText(booking.starts_at, visitorZone)} (${zoneText(visitorZone)})`
    : order && `${all.orders.number(order.number)}: ${money(order.total, order.currency)}`;
  // What is refused for one of these reasons does not get better by trying again.
  const said = done ? thanks : act.error instanceof ApiError && all.refused[act.error.code];
  return (
    <section class="card stack">
      <Heading key={String(!said)} title={heading}>
        {heading}
      </Heading>
      <Words>{about}</Words>
      {said ? (
        <Notice kind={done ? "good" : "error"}>
          <p>{said}</p>
          <Button onClick={() => onLeave((booking ?? order)?.professional_id)}>{all.onward}</Button>
        </Notice>
      ) : (
        <Form action={act} label={button}>
          <p>{lead}</p>
        </Form>
      )}
    </section>
  );
}
