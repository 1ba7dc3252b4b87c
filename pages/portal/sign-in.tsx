/** An address gets a code, and the code opens the session. */
import { useState } from "preact/hooks";
import type { BookingPage } from "../../client/src/database.ts";
import { useAction } from "../shared/action.ts";
import { isCode } from "../shared/api.ts";
import { Failure, fieldErrors } from "../shared/errors.tsx";
import type { Loaded } from "../shared/loaded.ts";
import { useRoute } from "../shared/route.ts";
import { announce, Button, Field, Heading, Loading, Notice } from "../shared/ui.tsx";
import type { CodeEntry } from "./entry.ts";
import { anybody, type Ending, type SessionAnswer } from "./session.ts";
import { recall, remember } from "./tab.ts";
import { texts as all } from "./texts/index.ts";

const texts = all.signIn;
const { portal } = anybody.functions;

interface SignInProps {
  /** A code that a mail's link brought. */
  entry: CodeEntry | null;
  owner: { id: string; full_name?: string } | undefined;
  page: Loaded<BookingPage | null>;
  ending: Ending | undefined;
  onSession: (answer: SessionAnswer) => void;
}

export function SignIn({ entry, owner, page, ending, onSession }: SignInProps) {
  const { query, go } = useRoute();
  const [mailed, setMailed] = useState(entry);
  const [email, setEmail] = useState(entry?.email ?? recall<string>("email") ?? "");
  const [code, setCode] = useState(entry?.code ?? "");
  const shown = page.value?.professional;
  const professionalId = mailed?.professional ?? owner?.id ?? shown?.id ?? "";
  const name = [shown, owner].find((one) => one?.id === professionalId)?.full_name;
  const who = { email: email.trim(), professionalId };

  const send = useAction(async (again: boolean) => {
    remember("email", who.email);
    await portal.sendCode(who);
    setCode("");
    if (again) announce(texts.sentAgain);
    else go({ step: "code" });
  });
  const verify = useAction(async () => onSession(await portal.verifyCode({ ...who, code })));
  const isCodeStep = mailed !== null || (query.get("step") === "code" && who.email !== "");
  const wrongEmail = fieldErrors(send.error).email && texts.emailMalformed;
  const wrongCode = isCode(verify.error, "invalid_otp")
    ? texts.wrongCode
    : fieldErrors(verify.error).code && texts.codeMalformed;

  if (!professionalId && page.error) return <Failure error={page.error} again={page.again} />;
  if (!professionalId && page.value === undefined) return <Loading />;
  return (
    <form
      class="card stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void (isCodeStep ? verify.run() : send.run(false));
      }}
    >
      {ending && <Notice>{all.ended[ending]}</Notice>}
      <Heading key={String(isCodeStep)} title={name ? all.titleWith(name) : all.title}>
        {isCodeStep ? texts.codeHeading : texts.heading}
      </Heading>
      {!professionalId && <p>{query.has("professional") ? texts.unknown : texts.nobody}</p>}
      {professionalId && !isCodeStep && (
        <>
          <p dir="auto">{name ? texts.lead(name) : texts.leadUnnamed}</p>
          <Field
            name="email"
            type="email"
            autocomplete="email"
            label={texts.email}
            value={email}
            onValue={setEmail}
            error={wrongEmail || undefined}
            required
          />
        </>
      )}
      {professionalId && isCodeStep && (
        <>
          <p dir="auto">{mailed ? texts.codeFromMail : texts.codeLead(who.email)}</p>
          <Field
            name="code"
            inputMode="numeric"
            autocomplete="one-time-code"
            label={texts.code}
            hint={texts.codeHint}
            value={code}
            onValue={(typed) => setCode(typed.replace(/\D/g, "").slice(0, 6))}
            error={wrongCode || undefined}
            required
          />
        </>
      )}
      {!wrongEmail && <Failure error={send.error} />}
      {!wrongCode && <Failure error={verify.error} />}
      {professionalId && (
        <div class="actions">
          <Button type="submit" kind="primary" busy={isCodeStep ? verify.busy : send.busy}>
            {isCodeStep ? texts.verify : texts.send}
          </Button>
          {isCodeStep && (
            <>
              <Button kind="link" busy={send.busy} onClick={() => send.run(true)}>
                {texts.again}
              </Button>
              <Button
                kind="link"
                onClick={() => {
                  setMailed(null);
                  go({ step: null });
                }}
              >
                {texts.otherAddress}
              </Button>
            </>
          )}
        </div>
      )}
    </form>
  );
}
