/** An address gets a code, and the code opens the session. */
import { useState } from "preact/hooks";
import type { BookingPage } from "../../client/src/database.ts";
import { useAction } from "../shared/action.ts";
import { Failure, fieldErrors } from "../shared/errors.tsx";
import { Form } from "../shared/form.tsx";
import type { Loaded } from "../shared/loaded.ts";
import { useRoute } from "../shared/route.ts";
import { useStored } from "../shared/store.ts";
import { Button, Field, Heading, Loading, Notice } from "../shared/ui.tsx";
import type { CodeEntry } from "./entry.ts";
import { anybody, type SessionAnswer } from "./session.ts";
import { texts as all } from "./texts/index.ts";

const texts = all.signIn;
const { portal } = anybody.functions;

/** Why nobody is signed in any more. */
export type Ending = "over" | "signedOut";

/** Whose client signs in, where the address does not name somebody whose page is shown. */
export type Owner = { id: string; full_name?: string };

interface SignInProps {
  /** A code that a mail's link brought. */
  entry: CodeEntry | null;
  owner: Owner | undefined;
  page: Loaded<BookingPage | null>;
  ending: Ending | undefined;
  onSession: (answer: SessionAnswer) => void;
  /** Without the mail's code, but still to the same professional's client. */
  onLeave: (professionalId?: string) => void;
}

export function SignIn({ entry, owner, page, ending, onSession, onLeave }: SignInProps) {
  const { query, go } = useRoute();
  const [typed, setEmail] = useStored("portal.email", "");
  const [code, setCode] = useState(entry?.code ?? "");
  const email = entry?.email ?? typed;
  const shown = page.value?.professional;
  const professionalId = entry?.professional ?? owner?.id ?? shown?.id ?? "";
  const name = [shown, owner].find((one) => one?.id === professionalId)?.full_name;
  const isCodeStep = entry !== null || (query.get("step") === "code" && email !== "");
  const send = useAction(async () => {
    await portal.sendCode({ email, professionalId });
    go({ step: "code" });
  });
  const verify = useAction(async () =>
    onSession(await portal.verifyCode({ email, code, professionalId })),
  );
  const askAgain = () => {
    setEmail(email);
    go({ step: null });
    if (entry) onLeave(entry.professional);
  };
  if (!professionalId && page.error) return <Failure error={page.error} again={page.again} />;
  if (!professionalId && page.value === undefined) return <Loading />;
  return (
    <section class="card stack">
      {ending && <Notice>{all.ended[ending]}</Notice>}
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
          beside={<Button onClick={askAgain}>{texts.again}</Button>}
        >
          <p dir="auto">{entry ? texts.codeFromMail : texts.codeLead(email)}</p>
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
