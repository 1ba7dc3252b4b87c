/** Holds answers of the Data API: those of RPCs to reference/shapes/rpc.ts, of tables to columns.ts. */
import type { z } from "zod";
import { COMMON_ERRORS } from "../../reference/shapes/errors.ts";
import { RPCS } from "../../reference/shapes/rpc.ts";
import type { Call } from "./held.ts";
import { errorProblems, shapeProblems } from "./held-errors.ts";
import { rowProblems } from "./held-rows.ts";

const COMMON: ReadonlySet<string> = new Set(COMMON_ERRORS);

/** Common codes that say something of the one call with this status. */
const SAYS_MORE = ["PGRST301 404", "busy 409"];

/** A list where one row of it was asked for, and undefined where there is no body. */
function answerOf({ accept }: Call, shape: z.ZodType, body: string): unknown {
  const answer = body === "" ? undefined : JSON.parse(body);
  return accept.includes("vnd.pgrst.object") && shape.def.type === "array" ? [answer] : answer;
}

/** Other formats make something else of an answer. */
const isJson = ({ accept }: Call) => !/csv|plan|octet/.test(accept);

/** Of the platform's edge, to an `apikey` that is missing or wrong: it has no code. */
const isWithoutKey = (status: number, body: string) => status === 401 && !/"code":/.test(body);

function refusalProblems(name: string | undefined, status: number, body: string): string[] {
  if (isWithoutKey(status, body)) return [];
  const own: readonly string[] = RPCS[name ?? ""]?.errors ?? [];
  const isCommon = (code: string) => COMMON.has(code) && !SAYS_MORE.includes(`${code} ${status}`);
  return errorProblems(
    status,
    body,
    (code) => name === undefined || isCommon(code) || own.includes(code),
  );
}

export function restProblems(call: Call, status: number, body: string): string[] {
  const [, name] = /^\/rest\/v1\/rpc\/([^/]+)$/.exec(call.url.pathname) ?? [];
  if (status >= 400) return refusalProblems(name, status, body);
  if (!isJson(call)) return [];
  if (name === undefined) return rowProblems(call.url, body);
  // With a `select` it does not say all.
  if (call.url.searchParams.has("select")) return [];
  const shape = RPCS[name]?.answer;
  return shape ? shapeProblems(shape, answerOf(call, shape, body)) : ["has no shape"];
}
