/** Who is signed in, in all tabs of this browser, and how they came: by Google, a mail, a password. */
import { type ComponentChildren, render } from "preact";
import { useEffect, useState } from "preact/hooks";
import { ApiError } from "../shared/api.ts";
import { useAction } from "../shared/asking.ts";
import { Failure } from "../shared/errors.tsx";
import { Form, useFields } from "../shared/form.tsx";
import { goTo, useRoute } from "../shared/route.ts";
import { announce, Button, Field, Heading, Link, Loading, Notice, Page } from "../shared/ui.tsx";
import { Diary } from "./day.tsx";
import { api } from "./diary.ts";
import { texts } from "./texts/index.ts";

const say = texts.signIn;
const { run, auth } = api;

/** Where Google and mails lead back to: this page, without what its address asks for. */
const back = { redirectTo: location.origin + location.pathname };

/** What they add to the address. A code works once: it goes at once, and is neither copied nor loaded again. */
async function arrive(): Promise<void> {
  const said = new URLSearchParams(`${location.search.slice(1)}&${location.hash.slice(1)}`);
  const code = said.get("code");
  const refusal = said.get("error_code") ?? said.get("error");
  if (!code && !refusal) return;
  history.replaceState(null, "", location.pathname);
  // Its description is anybody's words.
  if (!code) throw new ApiError(400, { code: refusal });
  const answer = await run(auth.exchangeCodeForSession(code));
  const { redirectType } = answer as { redirectType?: string | null };
  // In the address, so that whoever loads the page again is still asked for the new password.
  if (redirectType === "recovery") goTo({ step: "password" }, { replace: true });
}

/** By id; null is nobody, undefined not known yet. It has ended when somebody was signed in, and is no more. */
type Session = { user?: string | null; ended?: boolean; problem?: unknown };

function App() {
  const step = useRoute().query.get("step");
  const [session, setSession] = useState<Session>({});
  useEffect(() => {
    const listen = (problem?: unknown) =>
      auth.onAuthStateChange((event, found) =>
        setSession({ user: found?.user.id ?? null, ended: event === "SIGNED_OUT", problem }),
      );
    arrive().then(() => listen(), listen);
  }, []);
  if (session.user && step !== "password") return <Diary key={session.user} />;
  const signedOut = step === "recover" ? <Recover /> : <SignIn {...session} />;
  const form = session.user ? <NewPassword /> : signedOut;
  return <Page>{session.user === undefined ? <Loading /> : form}</Page>;
}

const Card = ({ heading, children }: { heading: string; children: ComponentChildren }) => (
  <div class="stack card">
    <Heading title={texts.title}>{heading}</Heading>
    {children}
  </div>
);

function SignIn({ ended, problem }: Session) {
  const { values, field } = useFields(say, { email: "", password: "" });
  const enter = useAction(() => run(auth.signInWithPassword(values)));
  const google = useAction(() => run(auth.signInWithOAuth({ provider: "google", options: back })));
  return (
    <Card heading={say.enter}>
      {ended && <Notice>{say.ended}</Notice>}
      <Failure error={google.error ?? (ended ? undefined : problem)} />
      <Form action={enter} label={say.enter}>
        <Field {...field("email")} type="email" autocomplete="username" required />
        <Field {...field("password")} type="password" autocomplete="current-password" required />
      </Form>
      <Button busy={google.busy} onClick={google.run}>
        {say.google}
      </Button>
      <Link to={{ step: "recover" }}>{say.forgot}</Link>
    </Card>
  );
}

function Recover() {
  const { values, field } = useFields(say, { email: "" });
  const [isSent, setSent] = useState(false);
  const send = useAction(async () => {
    setSent(false);
    await run(auth.resetPasswordForEmail(values.email, back));
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

function NewPassword() {
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

render(<App />, document.getElementById("page") as HTMLElement);
