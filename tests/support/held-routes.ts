/** Holds answers of the functions to what reference/shapes/routes.ts says of their routes. */
import { COMMON_ROUTE_ERRORS } from "../../reference/shapes/errors.ts";
import { matchRoute } from "../../reference/shapes/routes.ts";
import type { Call } from "./held.ts";
import { errorProblems, shapeProblems } from "./held-errors.ts";

/** What the answer to a request for a function has that is not listed of its route; nothing is good. */
export function routeProblems({ method, url }: Call, response: Response, body: string): string[] {
  const { status } = response;
  const route = matchRoute(method, url.pathname);
  if (status >= 400) {
    const codes: readonly string[] = [...COMMON_ROUTE_ERRORS, ...(route?.errors ?? [])];
    return errorProblems(status, body, (code) => codes.includes(code));
  }
  const shape = route?.answers[status];
  if (route === undefined || shape === undefined) return [`no answer of status ${status}`];
  if (shape === null) return body === "" ? [] : ["a body where there is none"];

  const type = response.headers.get("content-type") ?? "";
  if (!type.startsWith(route.contentType ?? "application/json")) return [`comes as ${type}`];
  return shapeProblems(shape, route.contentType ? body : JSON.parse(body));
}
