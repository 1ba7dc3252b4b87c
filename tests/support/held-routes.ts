/** Holds answers of the functions to what reference/shapes/routes.ts says of their routes. */
import { COMMON_ROUTE_ERRORS, ERRORS } from "../../reference/shapes/errors.ts";
import { matchRoute, type RouteShape } from "../../reference/shapes/routes.ts";

interface ErrorBody {
  code: string;
  details: string | null;
}

const COMMON: readonly string[] = COMMON_ROUTE_ERRORS;

function refusalProblems(route: RouteShape | undefined, status: number, body: string): string[] {
  const { code, details } = JSON.parse(body) as ErrorBody;
  const entry = ERRORS.find((error) => error.code === code && error.statuses.includes(status));
  if (!entry) return [`no error of this code and status in the list: ${body}`];
  const own: readonly string[] = route?.errors ?? [];
  if (![...COMMON, ...own].includes(code)) return [`not among its errors: ${code}`];
  if (!entry.details || details === null) return [];
  const { error } = entry.details.safeParse(JSON.parse(details));
  return error ? [`details of ${code}: ${error.message}`] : [];
}

/** What the answer to a request for a function has that is not listed of its route; nothing is good. */
export async function routeProblems(
  method: string,
  pathname: string,
  response: Response,
): Promise<string[]> {
  if (method === "OPTIONS") return [];
  const { status } = response;
  const body = await response.text();
  const route = matchRoute(method, pathname);
  if (status >= 400) return method === "HEAD" ? [] : refusalProblems(route, status, body);
  const shape = route?.answers[status];
  if (route === undefined || shape === undefined) return [`no answer of status ${status}`];
  if (shape === null) return body === "" ? [] : ["a body where there is none"];

  const type = response.headers.get("content-type") ?? "";
  if (!type.startsWith(route.contentType ?? "application/json")) return [`comes as ${type}`];
  const { error } = shape.safeParse(route.contentType ? body : JSON.parse(body));
  return (error?.issues ?? []).map(({ path, message }) => `${path.join(".")}: ${message}`);
}
