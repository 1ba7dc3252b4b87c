/** `npm run schemas`: writes the JSON Schema of webhook events to docs/. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { eventsJsonSchema } from "../supabase/functions/webhooks/event-schemas.ts";
import { PROJECT_DIR } from "./state.ts";

export const SCHEMAS_FILE = join(PROJECT_DIR, "docs/webhook-events.schema.json");

/** The text of the file. */
export function schemasText(): string {
  return `${JSON.stringify(eventsJsonSchema(), null, 2)}\n`;
}

if (import.meta.url === pathToFileURL(process.argv[1] ?? "").href) {
  writeFileSync(SCHEMAS_FILE, schemasText());
}
