/** The routes of the functions that front ends, programs and clients call. */
import { STATUS_CODES } from "node:http";
import { routeName } from "../routes.ts";
import { ROUTES, type RouteShape } from "../shapes/routes.ts";
import { errorResponses } from "./errors.ts";
import type { JsonSchema, Schemas, Shapes } from "./schemas.ts";

/** The scheduler's and those of providers are nobody else's to call. */
export const CALLED = ROUTES.filter((route) => !["scheduler", "provider"].includes(route.for));

export const routePath = ({ function: slug, path }: RouteShape) => `/functions/v1/${slug}${path}`;

export function addRoutes({ inputs, outputs }: Shapes): void {
  for (const route of CALLED) {
    const name = routeName(route);
    if (route.body) inputs.set(`route/${name}/body`, route.body);
    if (route.query) inputs.set(`route/${name}/query`, route.query);
    for (const [status, answer] of Object.entries(route.answers)) {
      if (answer) outputs.set(`route/${name}/${status}`, answer);
    }
  }
}

export function routeOperation(route: RouteShape, { input, output }: Schemas) {
  const name = routeName(route);
  const query = route.query ? input(`route/${name}/query`) : {};
  const { properties = {}, required = [] } = query as {
    properties?: Record<string, JsonSchema>;
    required?: string[];
  };
  const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => ({
    name,
    in: "path",
    required: true,
    schema: { type: "string" },
  }));
  const inQuery = Object.entries(properties).map(([name, schema]) => ({
    name,
    in: "query",
    required: required.includes(name),
    schema,
  }));
  const answers = Object.entries(route.answers).map(([status, answer]) => {
    const isText = route.contentType && status === "200" && route.method !== "HEAD";
    const schema = answer ? output(`route/${name}/${status}`) : { type: "string" };
    const type = route.contentType ?? "application/json";
    return [
      status,
      {
        description: STATUS_CODES[status],
        ...((answer || isText) && { content: { [type]: { schema } } }),
      },
    ];
  });
  return {
    tags: [route.function],
    operationId: name,
    summary: route.summary,
    description: `For ${route.who}.`,
    ...(inPath.length + inQuery.length > 0 && { parameters: [...inPath, ...inQuery] }),
    ...(route.body && {
      requestBody: {
        required: !route.bodyOptional,
        content: { "application/json": { schema: input(`route/${name}/body`) } },
      },
    }),
    responses: { ...Object.fromEntries(answers), ...errorResponses(route.errors) },
    // A token in the body or the address, or the public key: no session.
    ...(route.for === "public" && { security: [{ apikey: [] }, {}] }),
  };
}
