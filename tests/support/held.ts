/**
 * Holds answers of a stack to what reference/shapes says of them: each RPC's answer to its shape, each
 * error to the list of errors and to those of its RPC.
 */
import type { z } from "zod";
import { COMMON_ERRORS, ERRORS, type ErrorCode } from "../../reference/shapes/errors.ts";
import { RPCS } from "../../reference/shapes/rpc.ts";

interface Call {
  method: string;
  url: URL;
  accept: string;
}

interface ErrorBody {
  code: ErrorCode;
  details: string | null;
}

const RPC = /^\/rest\/v1\/rpc\/([^/]+)$/;

const COMMON: ReadonlySet<string> = new Set(COMMON_ERRORS);

/** Common codes that with this status say something of the call alone. */
const OWN = new Set(["PGRST301 404", "busy 409"]);

function problemsOf(shape: z.ZodType, value: unknown): string[] {
  const { error } = shape.safeParse(value);
  return (error?.issues ?? []).map(({ path, message }) => `${path.join(".")}: ${message}`);
}

/** An array where one row was asked for of several, and no answer where there is no body. */
function answerOf(call: Call, shape: z.ZodType, body: string): unknown {
  const answer = body === "" ? undefined : JSON.parse(body);
  const isOne = call.accept.includes("vnd.pgrst.object");
  return isOne && shape.def.type === "array" ? [answer] : answer;
}

function answerProblems(call: Call, name: string, body: string): string[] {
  const shape = RPCS[name]?.answer;
  if (!shape) return ["no shape"];
  return problemsOf(shape, answerOf(call, shape, body));
}

function errorProblems(status: number, body: string, own: readonly string[] | undefined): string[] {
  const error = JSON.parse(body) as ErrorBody;
  const entry = ERRORS.find(
    ({ code, statuses }) => code === error.code && statuses.includes(status),
  );
  if (!entry) return [`no error of this code and status in the list: ${body}`];

  const isCommon = COMMON.has(error.code) && !OWN.has(`${error.code} ${status}`);
  if (own && !isCommon && !own.includes(error.code)) return [`not among its errors: ${error.code}`];
  if (!entry.details || error.details === null) return [];
  return problemsOf(entry.details, JSON.parse(error.details));
}

/** Whether the answer says all: `select` and other formats make another of it. */
function isWhole({ method, url, accept }: Call): boolean {
  return method !== "HEAD" && !url.searchParams.has("select") && !/csv|plan|octet/.test(accept);
}

/** What an answer has that its shape does not; nothing for what is not held. */
function problems(call: Call, status: number, body: string): string[] {
  const name = RPC.exec(call.url.pathname)?.[1];
  if (status >= 400 && call.method !== "HEAD" && call.url.pathname.startsWith("/rest/v1/")) {
    return errorProblems(status, body, name === undefined ? undefined : (RPCS[name]?.errors ?? []));
  }
  return name !== undefined && status < 300 && isWhole(call)
    ? answerProblems(call, name, body)
    : [];
}

function isHeld(url: URL): boolean {
  return url.pathname.startsWith("/rest/v1/");
}

/**
 * `send`, but it fails where an answer is not as it is described. Every such case is also added to
 * `mismatches`, for callers that take a failed request for a lost one.
 */
export function held(send: typeof fetch, mismatches: string[]): typeof fetch {
  return async (input, init) => {
    const response = await send(input, init);
    const request = input instanceof Request ? input : undefined;
    const url = new URL(request?.url ?? String(input));
    if (!isHeld(url)) return response;

    const method = init?.method ?? request?.method ?? "GET";
    const headers = new Headers(init?.headers ?? request?.headers);
    const call: Call = { method, url, accept: headers.get("accept") ?? "" };
    const found = problems(call, response.status, await response.clone().text());
    if (found.length === 0) return response;

    const mismatch = `${method} ${url.pathname} answered ${response.status}: ${found.join("; ")}`;
    mismatches.push(mismatch);
    throw new Error(mismatch);
  };
}
