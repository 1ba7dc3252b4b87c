/** Signing in, and a new password for one that was forgotten. */
import { useState } from "preact/hooks";
import { useAction } from "../shared/action.ts";
import { Failure } from "../shared/errors.tsx";
import type { Route } from "../shared/route.ts";
import { announce, Button, Field, Heading, Notice } from "../shared/ui.tsx";
import { Form, useFields } from "./form.tsx";
import { api, here, type Session } from "./session.ts";
import { texts } from "./texts/index.ts";

const say = texts.signIn;

export function SignIn({ route, ended, problem }: Session & { route: Route }) {
  const { values, field } = useFields(say, { email: "", password: "" });
  const [sentTo, setSentTo] = useState("");
  const email = values.email.trim();
  const { auth } = api;
  const enter = useAction(() =>
    api.run(auth.signInWithPassword({ email, password: values.password })),
  );
  const google = useAction(() =>
    api.run(auth.signInWithOAuth({ provider: "google", options: { redirectTo: here } })),
  );
  const send = useAction(async () => {
    setSentTo("");
    await api.run(auth.resetPasswordForEmail(email, { redirectTo: here }));
    setSentTo(email);
  });
  const address = <Field {...field("email")} type="email" autocomplete="username" required />;
  if (route.query.get("step") === "recover") {
    return (
      <div class="stack card" key="recover">
        <Heading title={texts.title}>{say.recover}</Heading>
        <p>{say.recoverText}</p>
        <Form action={send} label={say.send}>
          {address}
        </Form>
        {sentTo && <Notice kind="good">{say.sent}</Notice>}
        <Button kind="link" onClick={() => route.go({ step: null })}>
          {say.toSignIn}
        </Button>
      </div>
    );
  }
  return (
    <div class="stack card" key="enter">
      <Heading title={texts.title}>{say.enter}</Heading>
      {ended && !problem && <Notice>{say.ended}</Notice>}
      <Failure error={problem ?? google.error} />
      <Form action={enter} label={say.enter}>
        {address}
        <Field {...field("password")} type="password" autocomplete="current-password" required />
      </Form>
      <Button busy={google.busy} onClick={google.run}>
        {say.google}
      </Button>
      <Button kind="link" onClick={() => route.go({ step: "recover" })}>
        {say.forgot}
      </Button>
    </div>
  );
}

export function NewPassword({ route }: { route: Route }) {
  const { values, field } = useFields({ password: say.newPassword }, { password: "" });
  const save = useAction(async () => {
    await api.run(api.auth.updateUser(values));
    announce(say.saved);
    route.go({ step: null }, { replace: true });
  });
  const hint = say.newPasswordHint;
  return (
    <div class="stack card">
      <Heading title={texts.title}>{say.recover}</Heading>
      <Form action={save} label={say.save}>
        <Field
          {...{ ...field("password"), hint }}
          type="password"
          autocomplete="new-password"
          required
        />
      </Form>
    </div>
  );
}
