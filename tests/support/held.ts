/** Holds what a stack answers to what reference/shapes says of it. */

export interface Call {
  method: string;
  url: URL;
  accept: string;
}

/** What the answers to the test file that runs had and should not have had, since its last test. */
export const mismatches = new Set<string>();

/** A body comes with neither. */
const WITHOUT_BODY = ["HEAD", "OPTIONS"];

async function problems(call: Call, response: Response): Promise<string[]> {
  const { pathname } = call.url;
  if (WITHOUT_BODY.includes(call.method)) return [];
  // Loaded where they are needed: each file of tests would wait for all shapes.
  if (pathname.startsWith("/rest/v1/")) {
    const { restProblems } = await import("./held-rest.ts");
    return restProblems(call, response.status, await response.clone().text());
  }
  if (pathname.startsWith("/functions/v1/")) {
    const { routeProblems } = await import("./held-routes.ts");
    return routeProblems(call, response, await response.clone().text());
  }
  return [];
}

/**
 * `send`, but it fails where an answer is not as it is described. Every such case is also added to
 * `mismatches`, because callers may take a request that fails for one that was lost.
 */
export function held(send: typeof fetch): typeof fetch {
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
