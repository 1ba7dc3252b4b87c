import { render } from "preact";
import { App } from "./app.tsx";
import { takeEntry } from "./entry.ts";

const entry = takeEntry();
render(<App entry={entry} />, document.getElementById("page") as HTMLElement);
