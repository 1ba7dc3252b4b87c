import { render } from "preact";
import { useRoute } from "../shared/route.ts";
import { shared } from "../shared/texts/index.ts";
import { Loading, Page } from "../shared/ui.tsx";
import { Diary } from "./day.tsx";
import { type Session, useSession } from "./session.ts";
import { NewPassword, SignIn } from "./sign-in.tsx";
import { texts } from "./texts/index.ts";

// A professional hears of some errors in other words than a client.
Object.assign(shared.errors.codes, texts.errors);

function Known(session: Session) {
  const route = useRoute();
  if (session.user && route.query.get("step") !== "password") {
    return <Diary key={session.user} route={route} />;
  }
  return (
    <Page>
      {session.user ? <NewPassword route={route} /> : <SignIn {...session} route={route} />}
    </Page>
  );
}

function App() {
  const session = useSession();
  if (session.user !== undefined) return <Known {...session} />;
  return (
    <Page>
      <Loading />
    </Page>
  );
}

render(<App />, document.getElementById("page") as HTMLElement);
