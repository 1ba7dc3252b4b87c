/** Names of routes, for their types and their anchors. */
import { pascal } from "./print.ts";
import { ROUTES, type RouteShape } from "./shapes/routes.ts";

const path = (route: RouteShape) =>
  pascal(`${route.function}${route.path.replaceAll(/\{\w+\}/g, "")}`);

/** `PaymentsCheckout`; with its method in front where a path has several. */
export function routeName(route: RouteShape): string {
  const isOne = ROUTES.filter((other) => path(other) === path(route)).length === 1;
  return isOne ? path(route) : `${pascal(route.method.toLowerCase())}${path(route)}`;
}
