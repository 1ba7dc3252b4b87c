/** Signing in, and a new password for one that was forgotten. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { useAction } from "../shared/asking.ts";
import { Failure } from "../shared/errors.tsx";
import { Form, useFields } from "../shared/form.tsx";
import { goTo } from "../shared/route.ts";
import { announce, Button, Field, Heading, Link, Notice } from "../shared/ui.tsx";
import { api, here, type Session } from "./session.ts";
import { texts } from "./texts/index.ts";

const say = texts.signIn;
const { run, auth } = api;

const Card = ({ heading, children }: { heading: string; children: ComponentChildren }) => (
  <div class="stack card">
    <Heading title={texts.title}>{heading}</Heading>
    {children}
  </div>
);

export function SignIn({ ended, problem }: Session) {
  const { values, field } = useFields(say, { email: "", password: "" });
  const { password } = values;
  const enter = useAction(() =>
    run(auth.signInWithPassword({ email: values.email.trim(), password })),
  );
  const google = useAction(() =>
    run(auth.signInWithOAuth({ provider: "google", options: { redirectTo: here } })),
  );
  return (
    <Card heading={say.enter}>
      {ended && <Notice>{say.ended}</Notice>}
      <Failure error={problem ?? google.error} />
      <Form action={enter} label={say.enter}>
        <Field {...field("email")} type="email" autocomplete="username" required />
        <Field {...field("password")} type="password" autocomplete="current-password" required />
      </Form>
      <Button {...{ busy: google.busy, onClick: google.run }}>{say.google}</Button>
      <Link to={{ step: "recover" }}>{say.forgot}</Link>
    </Card>
  );
}

export function Recover() {
  const { values, field } = useFields(say, { email: "" });
  const [isSent, setSent] = useState(false);
  const send = useAction(async () => {
    setSent(false);
    await run(auth.resetPasswordForEmail(values.email.trim(), { redirectTo: here }));
    setSent(true);
  });
  return (
    <Card heading={say.recover}>
      <Form action={send} label={say.send}>
        <Field {...field("email")} type="email" autocomplete="username" required />
      </Form>
      {isSent && <Notice kind="good">{say.sent}</Notice>}
      <Link to={{ step: null }}>{say.toSignIn}</Link>
    </Card>
  );
}

export function NewPassword() {
  const { values, field } = useFields({ password: say.newPassword }, { password: "" });
  const save = useAction(async () => {
    await run(auth.updateUser(values));
    announce(say.saved);
    goTo({ step: null }, { replace: true });
  });
  const password = { ...field("password"), hint: say.newPasswordHint };
  return (
    <Card heading={say.recover}>
      <Form action={save} label={say.save}>
        <Field {...password} type="password" autocomplete="new-password" required />
      </Form>
    </Card>
  );
}
