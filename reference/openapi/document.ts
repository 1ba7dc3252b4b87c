/**
 * `docs/openapi.json`: the RPCs, the plain operations of the tables, the routes of the functions and
 * the events, for whoever makes a client in another language.
 */
import { readFileSync } from "node:fs";
import type { Model } from "../model.ts";
import { isForUsers } from "../types.ts";
import { EVENT_SCHEMAS } from "../webhook-events.ts";
import { ERROR_SCHEMA } from "./errors.ts";
import { addRoutes, CALLED, routeOperation, routePath } from "./routes.ts";
import { addRpcs, rpcPath } from "./rpcs.ts";
import { addColumns, type Shapes, schemasOf } from "./schemas.ts";
import { filterParameters, TABLE_PARAMETERS, tablePath, tableSchemas } from "./tables.ts";

const { version } = JSON.parse(
  readFileSync(new URL("../../package.json", import.meta.url), "utf8"),
) as { version: string };

export function openApi(model: Model) {
  const functions = model.functions.filter((fn) => isForUsers(fn) && !fn.relationshipOf);
  const shapes: Shapes = { inputs: new Map(), outputs: new Map() };
  addColumns(shapes);
  addRpcs(functions, shapes);
  addRoutes(shapes);
  for (const [type, schema] of Object.entries(EVENT_SCHEMAS)) {
    shapes.outputs.set(`event/${type}`, schema);
  }
  const schemas = schemasOf(shapes);
  const { output } = schemas;

  const paths: Record<string, Record<string, unknown>> = {};
  for (const table of model.tables) paths[`/rest/v1/${table.name}`] = tablePath(table, model);
  for (const fn of functions) paths[`/rest/v1/rpc/${fn.name}`] = rpcPath(fn, schemas);
  for (const route of CALLED) {
    const path = routePath(route);
    paths[path] = {
      ...paths[path],
      [route.method.toLowerCase()]: routeOperation(route, schemas),
    };
  }
  const webhooks = Object.keys(EVENT_SCHEMAS).map((type) => [
    type,
    {
      post: {
        tags: ["events"],
        operationId: `on_${type.replaceAll(".", "_")}`,
        summary: `${type}, signed as docs/webhooks.md says`,
        requestBody: { content: { "application/json": { schema: output(`event/${type}`) } } },
        responses: { "2XX": { description: "Taken; anything else is sent again." } },
      },
    },
  ]);
  const tables = model.tables.map((table) => tableSchemas(table, schemas));
  return {
    openapi: "3.1.0",
    info: {
      title: "Scheduling and commerce",
      version,
      description:
        "Bookings, clients, catalogue and orders of independent professionals. What only servers may call is in docs/reference.md, signing in under /auth/v1 is that of the platform. Fields may be added to answers.",
    },
    servers: [
      {
        url: "https://{project}.supabase.co",
        variables: { project: { default: "project-id", description: "Of the hosted project" } },
      },
      { url: "http://127.0.0.1:54321", description: "npm start" },
    ],
    security: [{ apikey: [], bearer: [] }, { apikey: [] }],
    paths,
    webhooks: Object.fromEntries(webhooks),
    components: {
      schemas: Object.assign({ Error: ERROR_SCHEMA }, schemas.components, ...tables),
      parameters: Object.assign({}, TABLE_PARAMETERS, ...model.tables.map(filterParameters)),
      securitySchemes: {
        apikey: {
          type: "apiKey",
          in: "header",
          name: "apikey",
          description: "The publishable key of the project.",
        },
        bearer: {
          type: "http",
          scheme: "bearer",
          bearerFormat: "JWT",
          description:
            "The access token of a professional, of a key, of a client in the portal or of a booking's link.",
        },
      },
    },
  };
}

export const openApiText = (model: Model) => `${JSON.stringify(openApi(model), null, 2)}\n`;
