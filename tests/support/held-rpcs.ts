/** Holds answers of the Data API to what reference/shapes/rpc.ts says of RPCs. */
import type { z } from "zod";
import { COMMON_ERRORS } from "../../reference/shapes/errors.ts";
import { RPCS } from "../../reference/shapes/rpc.ts";
import type { Call } from "./held.ts";
import { errorProblems, shapeProblems } from "./held-errors.ts";

const COMMON: ReadonlySet<string> = new Set(COMMON_ERRORS);

/** Common codes that say something of the one call with this status. */
const SAYS_MORE = ["PGRST301 404", "busy 409"];

/** A list where one row of it was asked for, and undefined where there is no body. */
function answerOf({ accept }: Call, shape: z.ZodType, body: string): unknown {
  const answer = body === "" ? undefined : JSON.parse(body);
  return accept.includes("vnd.pgrst.object") && shape.def.type === "array" ? [answer] : answer;
}

/** `select` and other formats make something else of an answer. */
function isWhole({ url, accept }: Call): boolean {
  return !url.searchParams.has("select") && !/csv|plan|octet/.test(accept);
}

/** What an answer has that is not as described; of tables only refusals are looked at. */
export function restProblems(call: Call, status: number, body: string): string[] {
  const [, name] = /^\/rest\/v1\/rpc\/([^/]+)$/.exec(call.url.pathname) ?? [];
  if (status >= 400) {
    const own: readonly string[] = RPCS[name ?? ""]?.errors ?? [];
    const isCommon = (code: string) => COMMON.has(code) && !SAYS_MORE.includes(`${code} ${status}`);
    return errorProblems(
      status,
      body,
      (code) => name === undefined || isCommon(code) || own.includes(code),
    );
  }
  if (name === undefined || !isWhole(call)) return [];
  const shape = RPCS[name]?.answer;
  return shape ? shapeProblems(shape, answerOf(call, shape, body)) : ["has no shape"];
}
