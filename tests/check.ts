/** `npm run check`: lint and types, without a stack. */
import { staticChecks } from "./support/checks.ts";

const results = await staticChecks(new AbortController().signal);
process.exitCode = results.every(Boolean) ? 0 : 1;
