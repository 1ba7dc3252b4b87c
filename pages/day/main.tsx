import { render } from "preact";
import { useRoute } from "../shared/route.ts";
import { shared } from "../shared/texts/index.ts";
import { Loading, Page } from "../shared/ui.tsx";
import { Diary } from "./day.tsx";
import { useSession } from "./session.ts";
import { NewPassword, Recover, SignIn } from "./sign-in.tsx";
import { texts } from "./texts/index.ts";

// A professional hears of some errors in other words than a client.
Object.assign(shared.errors.codes, texts.errors);

function App() {
  const session = useSession();
  const { query } = useRoute();
  // What the address says may have changed on arrival, unheard.
  const step = session.user && new URLSearchParams(location.search).get("step");
  if (session.user && step !== "password") return <Diary key={session.user} query={query} />;
  const signedOut = query.get("step") === "recover" ? <Recover /> : <SignIn {...session} />;
  return (
    <Page>{session.user === undefined ? <Loading /> : step ? <NewPassword /> : signedOut}</Page>
  );
}

render(<App />, document.getElementById("page") as HTMLElement);
