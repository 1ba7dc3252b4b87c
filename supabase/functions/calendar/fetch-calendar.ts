/**
 * A calendar as its host gives it to whoever knows the address, which is in no error of this: neither a log nor
 * the database may learn it.
 */
import { AddressError, type AddressRules, checkAddress } from "../_shared/address-rules.ts";

/** What the host called a version of the calendar, to be asked whether it still is the one. */
export interface Version {
  etag: string | null;
  last_modified: string | null;
}

export type Fetched =
  | { unchanged: true }
  | { unchanged?: false; text: string; version: Version }
  | { unchanged?: false; error: { code: FetchErrorCode; detail: string | null } };

export type FetchErrorCode =
  /** The detail is the reason. */
  | "url_not_allowed"
  | "too_many_redirects"
  /** The detail is the status. */
  | "http_error"
  | "too_large"
  | "no_answer_in_time"
  | "no_connection";

export interface FetchDeps extends AddressRules {
  fetch: typeof fetch;
  /** Longest time for everything, look-ups and redirects included. */
  timeoutMs: number;
}

const MOST_REDIRECTS = 3;
/** Of the body, unpacked. */
const MOST_BYTES = 5 * 1024 * 1024;

class FetchError extends Error {
  constructor(
    readonly code: FetchErrorCode,
    readonly detail: string | null = null,
  ) {
    super(code);
  }
}

/** A value that the database keeps; a longer one is no use to anybody. */
const bounded = (value: string | null, length: number) =>
  value !== null && value.length <= length ? value : null;

/** As a whole, or `unchanged` when the host says that it still has the version. Never rejects. */
export async function fetchCalendar(
  url: string,
  known: Version,
  deps: FetchDeps,
): Promise<Fetched> {
  const signal = AbortSignal.timeout(deps.timeoutMs);
  try {
    const answer = await follow(url, known, deps, signal);
    if (answer.status === 304 && (known.etag !== null || known.last_modified !== null)) {
      return { unchanged: true };
    }
    if (!answer.ok) throw await failure(answer, new FetchError("http_error", `${answer.status}`));
    return {
      text: await bodyOf(answer),
      version: {
        etag: bounded(answer.headers.get("etag"), 500),
        last_modified: bounded(answer.headers.get("last-modified"), 100),
      },
    };
  } catch (error) {
    if (error instanceof FetchError) return { error: { code: error.code, detail: error.detail } };
    if (error instanceof AddressError) {
      return { error: { code: "url_not_allowed", detail: error.reason } };
    }
    // What the runtime says of a failure quotes the address.
    return {
      error: { code: signal.aborted ? "no_answer_in_time" : "no_connection", detail: null },
    };
  }
}

/** The first answer that is no redirect. Where each leads to is checked like the address itself. */
async function follow(
  start: string,
  { etag, last_modified }: Version,
  deps: FetchDeps,
  signal: AbortSignal,
): Promise<Response> {
  let url = start;
  for (let redirects = 0; ; redirects++) {
    await checkAddress(url, deps, signal);
    const answer = await deps.fetch(url, {
      headers: {
        accept: "text/calendar, */*;q=0.1",
        "user-agent": "Calendar/1.0",
        ...(etag !== null && { "if-none-match": etag }),
        ...(last_modified !== null && { "if-modified-since": last_modified }),
      },
      redirect: "manual",
      signal,
    });
    if (![301, 302, 303, 307, 308].includes(answer.status)) return answer;
    const location = answer.headers.get("location") ?? "";
    if (redirects === MOST_REDIRECTS) {
      throw await failure(answer, new FetchError("too_many_redirects"));
    }
    if (location === "" || !URL.canParse(location, url)) {
      throw await failure(answer, new FetchError("http_error", `${answer.status}`));
    }
    await answer.body?.cancel();
    url = new URL(location, url).href;
  }
}

/** Lets go of the connection first. */
async function failure(answer: Response, error: FetchError): Promise<FetchError> {
  await answer.body?.cancel();
  return error;
}

async function bodyOf(answer: Response): Promise<string> {
  const decoder = new TextDecoder();
  const reader = answer.body?.getReader();
  const parts: string[] = [];
  let size = 0;
  while (reader) {
    const { done, value } = await reader.read();
    if (done) break;
    size += value.length;
    if (size > MOST_BYTES) {
      await reader.cancel();
      throw new FetchError("too_large");
    }
    parts.push(decoder.decode(value, { stream: true }));
  }
  return parts.join("") + decoder.decode();
}
