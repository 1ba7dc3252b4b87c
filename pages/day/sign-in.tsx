/** Signing in, and a new password for one that was forgotten. */
import { useAction } from "../shared/action.ts";
import { Failure } from "../shared/errors.tsx";
import { goTo } from "../shared/route.ts";
import { announce, Button, Field, Heading, Link, Notice } from "../shared/ui.tsx";
import { Form, useFields } from "./form.tsx";
import { api, here, type Session } from "./session.ts";
import { texts } from "./texts/index.ts";

const say = texts.signIn;
const { run, auth } = api;

export function SignIn({ ended, problem }: Session) {
  const { values, field } = useFields(say, { email: "", password: "" });
  const enter = useAction(() =>
    run(auth.signInWithPassword({ email: values.email.trim(), password: values.password })),
  );
  const google = useAction(() =>
    run(auth.signInWithOAuth({ provider: "google", options: { redirectTo: here } })),
  );
  return (
    <div class="stack card">
      <Heading title={texts.title}>{say.enter}</Heading>
      {ended && !problem && <Notice>{say.ended}</Notice>}
      <Failure error={problem ?? google.error} />
      <Form action={enter} label={say.enter}>
        <Field {...field("email")} type="email" autocomplete="username" required />
        <Field {...field("password")} type="password" autocomplete="current-password" required />
      </Form>
      <Button {...{ busy: google.busy, onClick: google.run }}>{say.google}</Button>
      <Link to={{ step: "recover" }}>{say.forgot}</Link>
    </div>
  );
}

export function Recover() {
  const { values, field } = useFields(say, { email: "" });
  const send = useAction(async () => {
    await run(auth.resetPasswordForEmail(values.email.trim(), { redirectTo: here }));
    goTo({ step: "sent" });
  });
  return (
    <div class="stack card">
      <Heading title={texts.title}>{say.recover}</Heading>
      <Form action={send} label={say.send}>
        <p>{say.recoverText}</p>
        <Field {...field("email")} type="email" autocomplete="username" required />
      </Form>
      <Link to={{ step: null }}>{say.toSignIn}</Link>
    </div>
  );
}

export const Sent = () => (
  <div class="stack card">
    <Heading title={texts.title}>{say.sentHeading}</Heading>
    <p>{say.sent}</p>
    <Link to={{ step: "recover" }}>{say.again}</Link>
  </div>
);

export function NewPassword() {
  const { values, field } = useFields({ password: say.newPassword }, { password: "" });
  const save = useAction(async () => {
    await run(auth.updateUser(values));
    announce(say.saved);
    goTo({ step: null }, { replace: true });
  });
  const password = { ...field("password"), hint: say.newPasswordHint };
  return (
    <div class="stack card">
      <Heading title={texts.title}>{say.recover}</Heading>
      <Form action={save} label={say.save}>
        <Field {...password} type="password" autocomplete="new-password" required />
      </Form>
    </div>
  );
}
