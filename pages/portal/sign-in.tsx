/** An address gets a code, and the code opens the session. */
import { useState } from "preact/hooks";
import type { BookingPage } from "../../client/src/database.ts";
import { useAction } from "../shared/action.ts";
import { Failure, fieldErrors } from "../shared/errors.tsx";
import { Form } from "../shared/form.tsx";
import type { Loaded } from "../shared/loaded.ts";
import { goTo, useRoute } from "../shared/route.ts";
import { useStored } from "../shared/store.ts";
import { Button, Field, Heading, Loading, Notice } from "../shared/ui.tsx";
import { anybody, type CodeEntry, type SessionAnswer } from "./session.ts";
import { texts as all } from "./texts/index.ts";

const texts = all.signIn;
const { portal } = anybody.functions;

interface SignInProps {
  entry: CodeEntry | null;
  page: Loaded<BookingPage | null>;
  onSession: (answer: SessionAnswer) => void;
}

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
