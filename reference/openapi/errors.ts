/** The answers that are no success. */
import { STATUS_CODES } from "node:http";
import { ERRORS, type ErrorCode } from "../shapes/errors.ts";
import type { JsonSchema } from "./schemas.ts";

export const ERROR_SCHEMA: JsonSchema = {
  type: "object",
  description: "Of every error of the Data API and of the functions.",
  required: ["code", "message", "details", "hint"],
  properties: {
    code: { type: "string", description: "The contract: docs/reference.md says what to do." },
    message: { type: "string", description: "For people; may change." },
    details: {
      type: ["string", "null"],
      description: "JSON text where it carries data, such as next_starts or retry_after.",
    },
    hint: { type: ["string", "null"] },
  },
};

/** For what any call may be answered with. */
const DEFAULT_RESPONSE = {
  description:
    "Any other error: a limit, a session that has ended, a missing grant, a malformed request.",
  content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } },
};

/** What a call is answered with under a code: ours where the platform has the same one elsewhere. */
function statusesOf(code: ErrorCode): number[] {
  const entries = ERRORS.filter((entry) => entry.code === code);
  const own = entries.filter(({ of }) => of === "ours");
  return (own.length > 0 ? own : entries).flatMap(({ statuses }) => statuses);
}

/** By status, with the codes that it has here. */
export function errorResponses(codes: readonly ErrorCode[]): Record<string, unknown> {
  const byStatus = new Map<number, Set<string>>();
  for (const code of codes) {
    for (const status of statusesOf(code)) {
      byStatus.set(status, (byStatus.get(status) ?? new Set()).add(code));
    }
  }
  const responses = [...byStatus]
    .sort(([a], [b]) => a - b)
    .map(([status, codes]) => {
      const names = [...codes].map((code) => `\`${code}\``).join(", ");
      const description = `${STATUS_CODES[status]}: ${names}`;
      return [String(status), { ...DEFAULT_RESPONSE, description }];
    });
  return Object.fromEntries([...responses, ["default", DEFAULT_RESPONSE]]);
}
