/** Holds what a stack answers to what reference/shapes says of it. */

import { restProblems } from "./held-rest.ts";
import { routeProblems } from "./held-routes.ts";

export interface Call {
  method: string;
  url: URL;
  accept: string;
}

/** A body comes with neither. */
const WITHOUT_BODY = ["HEAD", "OPTIONS"];

async function problems(call: Call, response: Response): Promise<string[]> {
  const { pathname } = call.url;
  if (WITHOUT_BODY.includes(call.method)) return [];
  if (pathname.startsWith("/rest/v1/")) {
    return restProblems(call, response.status, await response.clone().text());
  }
  return pathname.startsWith("/functions/v1/")
    ? routeProblems(call, response, await response.clone().text())
    : [];
}

/**
 * `send`, but it fails where an answer is not as it is described. Every such case is also added to
 * `mismatches`, because callers may take a request that fails for one that was lost.
 */
export function held(send: typeof fetch, mismatches: Set<string>): typeof fetch {
  return async (input, init) => {
    const response = await send(input, init);
    const { method, url, headers } =
      input instanceof Request ? input : { method: "GET", url: String(input), headers: undefined };
    const call = {
      method: init?.method ?? method,
      url: new URL(url),
      accept: new Headers(init?.headers ?? headers).get("accept") ?? "",
    };
    const found = await problems(call, response);
    if (found.length === 0) return response;

    const what = `${call.method} ${call.url.pathname} answered ${response.status}`;
    mismatches.add(`${what}: ${found.join("; ")}`);
    throw new Error(`${what}: ${found.join("; ")}`);
  };
}
