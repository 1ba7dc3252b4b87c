/** The RPCs that anybody but a server may call. */
import type { Fn } from "../model.ts";
import { RPCS } from "../shapes/rpc.ts";
import { DATES, INSTANTS } from "../types.ts";
import { errorResponses } from "./errors.ts";
import { ROLE_NAMES } from "./roles.ts";
import { type JsonSchema, orNull, type Schemas, type Shapes, scalarSchema } from "./schemas.ts";

const shapeOf = ({ name }: Fn) => {
  const shape = RPCS[name];
  if (!shape) throw new Error(`${name}() has no shape in reference/shapes.`);
  return shape;
};

const isVoid = ({ returns }: Fn) => returns === "void";

export function addRpcs(functions: Fn[], { inputs, outputs }: Shapes): void {
  for (const fn of functions) {
    const { answer, args = {} } = shapeOf(fn);
    if (!isVoid(fn)) outputs.set(`rpc/${fn.name}`, answer);
    for (const [name, shape] of Object.entries(args)) inputs.set(`rpc/${fn.name}/${name}`, shape);
  }
}

/** A comment up to its first stop, without the shapes in it. */
const firstWords = (comment: string | null) => comment?.split(/[.:;](?:\s|$)|\s[[{]/)[0];

export function rpcPath(fn: Fn, { input, output }: Schemas): Record<string, unknown> {
  const { args = {}, nullable = [], errors } = shapeOf(fn);
  const schemas = fn.arguments.map((argument) => {
    const { name, type, default: value } = argument;
    const schema = name in args ? input(`rpc/${fn.name}/${name}`) : argumentSchema(name, type);
    const isNullable = value?.startsWith("NULL") || nullable.includes(name);
    return { name, schema: isNullable ? orNull(schema) : schema, isRequired: value === null };
  });
  const required = schemas.filter(({ isRequired }) => isRequired).map(({ name }) => name);
  const operation = (method: "get" | "post") => ({
    tags: ["rpc"],
    operationId: method === "get" ? `get_${fn.name}` : fn.name,
    summary: firstWords(fn.comment) ?? fn.name,
    description: [
      fn.comment ?? "",
      `For ${fn.roles.map((role) => ROLE_NAMES[role]).join(", ")}.`,
    ].join("\n\n"),
    responses: {
      ...(isVoid(fn)
        ? { "204": { description: "Done." } }
        : {
            "200": {
              description: "The answer.",
              content: { "application/json": { schema: output(`rpc/${fn.name}`) } },
            },
          }),
      ...errorResponses(errors),
    },
  });
  return {
    post: {
      ...operation("post"),
      requestBody: {
        required: required.length > 0,
        content: {
          "application/json": {
            schema: {
              type: "object",
              properties: Object.fromEntries(schemas.map(({ name, schema }) => [name, schema])),
              ...(required.length > 0 && { required }),
              additionalProperties: false,
            },
          },
        },
      },
    },
    ...(fn.volatility !== "volatile" && {
      get: {
        ...operation("get"),
        parameters: schemas.map(({ name, schema, isRequired }) => ({
          name,
          in: "query",
          required: isRequired,
          // JSON in a query is its text.
          schema: name in args && !("enum" in schema) ? { type: "string" } : schema,
        })),
      },
    }),
  };
}

/** Times come as text, so that a wrong one is answered with a code of ours. */
function argumentSchema(name: string, type: string): JsonSchema {
  if (type === "text" && INSTANTS.test(name)) return { type: "string", format: "date-time" };
  if (type === "text" && DATES.test(name)) return { type: "string", format: "date" };
  return scalarSchema(type);
}
