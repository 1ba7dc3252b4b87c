/** `docs/reference.md`: everything there is to call, read and be refused by, for people. */
import type { z } from "zod";
import { say } from "./constraints.ts";
import { errorTables, linked } from "./markdown-errors.ts";
import { anchor, code, contents, list, type Section, table } from "./markdown-parts.ts";
import {
  type Column,
  type Constraint,
  type Fn,
  type Model,
  ROLES,
  type Role,
  type Table,
} from "./model.ts";
import { nameOf, Printer } from "./print.ts";
import { COLUMNS, WRITTEN_COLUMNS } from "./shapes/columns.ts";
import { COMMON_ERRORS, COMMON_ROUTE_ERRORS } from "./shapes/errors.ts";
import { LIMITS, TIERS } from "./shapes/limits.ts";
import { ROUTES, type RouteShape } from "./shapes/routes.ts";
import { RPCS } from "./shapes/rpc.ts";
import { commentsOf, DATES, INSTANTS, isForUsers } from "./types.ts";
import { EVENT_SCHEMAS } from "./webhook-events.ts";

/** What the roles are called here. */
const WHO: Record<Role, string> = {
  anon: "public",
  authenticated: "professional",
  portal_client: "client",
  portal_booking: "link",
  service_role: "server",
};

const USERS = ROLES.filter((role) => role !== "service_role");

/** Which rows, by the audience that a policy's name ends with. */
const ROWS: Record<string, string> = {
  own: "their own",
  client: "those of the client",
  link: "the one of the link",
  public: "those that are public",
};

/** Values that a default is only there for, so that the column may be left out. */
function defaultOf(table: Table, column: Column): string {
  const text = column.default?.replace(/::[\w. ]+(\[\])?$/, "") ?? "";
  const isFilled =
    text === "''" &&
    table.grants.authenticated.insert.length > 0 &&
    !table.grants.authenticated.insert.includes(column.name);
  if (column.generated || isFilled || /^NULL/.test(text)) return "worked out";
  if (text === "") return column.nullable ? "null" : "";
  const said: Record<string, string> = {
    "auth.uid()": "the caller",
    "gen_random_uuid()": "random",
    "now()": "now",
    "''": "empty",
  };
  if (said[text]) return said[text];
  if (text.length > 40) return "see [bookings.md](bookings.md)";
  return code(text.replace(/^'(.*)'$/, "$1"));
}

function typeOf(table: Table, column: Column, printer: Printer): string {
  const nullable = column.nullable ? ", null" : "";
  const shape = COLUMNS[`${table.name}.${column.name}`];
  if (shape) {
    const written = WRITTEN_COLUMNS[`${table.name}.${column.name}`];
    const other = written && `, written as ${inline(printer, printer.input(written))}`;
    return `${code(column.type)}: ${inline(printer, printer.type(shape))}${nullable}${other ?? ""}`;
  }
  if (column.values) {
    const values = column.values.map(code).join(", ");
    return column.type.endsWith("[]") ? `list of ${values}` : `${values}${nullable}`;
  }
  return `${code(column.type)}${nullable}`;
}

const CODES: Record<Constraint["kind"], string> = {
  "primary key": "23505",
  unique: "23505",
  "foreign key": "23503",
  check: "23514",
  exclusion: "slot_taken",
};

function tableSection(model: Model, found: Table, printer: Printer): Section {
  const writers = (column: string) =>
    USERS.flatMap((role) => {
      const does = (["insert", "update"] as const).filter((command) =>
        found.grants[role][command].includes(column),
      );
      return does.length > 0 ? [`${WHO[role]}: ${does.join(", ")}`] : [];
    }).join("; ");
  const readers = (column: string) =>
    USERS.filter((role) => found.grants[role].select.includes(column))
      .map((role) => WHO[role])
      .join(", ");
  const constraints = model.constraints.filter((constraint) => constraint.table === found.name);
  return {
    title: `Table ${code(found.name)}`,
    body: [
      found.comment ?? "",
      table(
        ["who", "may", "which rows"],
        found.policies.map(({ name, command, roles }) => [
          roles.map((role) => WHO[role]).join(", "),
          command,
          ROWS[name.split("_").at(-1) ?? ""] ?? "",
        ]),
      ),
      table(
        ["column", "type", "default", "read by", "written by", "what"],
        found.columns.map((column) => [
          code(column.name),
          typeOf(found, column, printer),
          defaultOf(found, column),
          readers(column.name),
          writers(column.name),
          column.comment ?? "",
        ]),
      ),
      table(
        ["constraint", "refuses with", "what it demands"],
        constraints.map((constraint) => {
          const { sentence, referenced } = say(model, constraint);
          return [
            code(constraint.name),
            linked(CODES[constraint.kind]),
            [sentence, referenced].filter(Boolean).join(" "),
          ];
        }),
      ),
    ],
  };
}

/** What a comment says before it comes to errors, and what it says of these. */
function parts(comment: string | null): { what: string; errors: string } {
  const [what = "", errors = ""] = (comment ?? "").split(/(?:^|\s)Errors: /);
  return { what: what.trim(), errors: errors.trim() };
}

/** The same in a cell of a table, which is one line. */
const inline = (printer: Printer, type: string) =>
  shown(printer, type.replace(/\/\*\*[\s\S]*?\*\//g, "").replace(/\s+/g, " "));

/** A type where people read, with links to those that it names; a long one on lines of its own. */
function shown(printer: Printer, type: string): string {
  if (type.includes("\n")) return `\n\n\`\`\`ts\n${type}\n\`\`\``;
  return type
    .split(/\b([A-Z]\w*)\b/)
    .filter(Boolean)
    .map((part) =>
      printer.declarations.has(part) ? `[${code(part)}](#${anchor(`Type ${part}`)})` : code(part),
    )
    .join("");
}

function argumentType(name: string, type: string): string {
  if (type === "text" && INSTANTS.test(name)) return `${code(type)}, an instant`;
  return type === "text" && DATES.test(name) ? `${code(type)}, a date` : code(type);
}

function rpcSection(fn: Fn, printer: Printer): Section {
  const shape = RPCS[fn.name];
  if (!shape) throw new Error(`${fn.name}() has no shape in reference/shapes.`);
  const { what, errors } = parts(fn.comment);
  const callers = fn.roles.map((role) => WHO[role]);
  const codes = shape.errors.filter((name) => !errors.includes(name));
  const args = fn.arguments.map(({ name, type, default: standard }) => {
    const described = shape.args?.[name];
    const isNull = standard?.startsWith("NULL") || shape.nullable?.includes(name);
    return [
      code(name),
      described ? inline(printer, printer.input(described)) : argumentType(name, type),
      standard === null
        ? isNull
          ? "required, may be null"
          : "required"
        : isNull
          ? "null"
          : code(standard.replace(/::.*$/, "")),
    ];
  });
  const answer = printer.type(shape.answer);
  return {
    title: `RPC ${code(fn.name)}`,
    body: [
      `\`POST /rest/v1/rpc/${fn.name}\`${fn.volatility === "volatile" ? "" : ", which only reads (`GET` as well)"}, for ${list(callers)}.`,
      what.replace(/^Server only\. /, ""),
      args.length > 0 ? table(["argument", "type", "default"], args) : "No arguments.",
      answer === "undefined" ? "Answers nothing (204)." : `Answer: ${shown(printer, answer)}`,
      errors || codes.length > 0
        ? `Errors: ${[linkErrors(errors), ...(codes.length > 0 ? [`${errors ? "Also " : ""}${codes.map(linked).join(", ")}.`] : [])].filter(Boolean).join(" ")}`
        : "No errors of its own.",
    ],
  };
}

/** Codes in the text of a comment, as links to what they mean. */
const linkErrors = (text: string) =>
  text.replace(/\b(PGRST\d{3}|[a-z0-9]+(?:_[a-z0-9]+)+|busy|past|inactive)\b/g, (name) =>
    linked(name),
  );

function routeSection(route: RouteShape, printer: Printer): Section {
  const type = (schema: z.ZodType) => shown(printer, printer.input(schema));
  const answers = Object.entries(route.answers).map(([status, shape]) => {
    const what = shape ? shown(printer, printer.type(shape)) : "nothing";
    return `* ${status}: ${what}${route.contentType && shape ? ` (${route.contentType})` : ""}`;
  });
  return {
    title: `${route.method} /${route.function}${route.path}`,
    body: [
      `${route.summary}. For ${route.who}.`,
      route.query ? `Query: ${type(route.query)}` : "",
      route.body
        ? `Body${route.bodyOptional ? ", which may be left out" : ""}: ${type(route.body)}`
        : "",
      `Answers:\n\n${answers.join("\n")}`,
      route.errors.length > 0 ? `Errors: ${route.errors.map(linked).join(", ")}.` : "",
    ],
  };
}

function limits(): string[] {
  return [
    table(
      ["tier", "requests a minute", "at the same time", "mails a day"],
      TIERS.map((tier) => [
        code(tier.name),
        String(tier.requests_per_minute),
        String(tier.concurrent_requests),
        String(tier.mails_per_day),
      ]),
    ),
    table(
      ["of", "what", "at most", "beyond it"],
      LIMITS.map((limit) => [
        limit.of,
        `${limit.what}${"variable" in limit ? ` (${code(limit.variable)})` : ""}`,
        limit.most,
        "over" in limit ? linked(limit.over) : "",
      ]),
    ),
    "What one column holds at most is a constraint of its table.",
  ];
}

/** What the bodies have in common, and what is in each. */
function events(printer: Printer): string[] {
  const shapes = Object.entries(EVENT_SCHEMAS).map(([type, schema]) => ({
    type,
    shape: (schema as z.ZodObject).shape,
  }));
  const rows = shapes.map(({ type, shape }) => [
    `<a id="event-${anchor(type)}"></a>${code(type)}`,
    inline(printer, printer.type(shape.data)),
    inline(printer, printer.type(shape.previous)),
  ]);
  const { data: _, previous: __, type: ___, ...common } = shapes[0]?.shape ?? {};
  return [
    `\`\`\`ts\n{\n${printer.fields(common, "  ")}  type: EventType;\n  data: object;\n  previous: object | null;\n}\n\`\`\``,
    table(["`type`", "`data`", "`previous`"], rows),
  ];
}

function types(model: Model, printer: Printer): Section[] {
  const composites = new Map(
    model.functions.flatMap((fn) => {
      const composite = model.composites.find(({ name }) => name === fn.returns);
      const name = composite && nameOf(RPCS[fn.name]?.answer as z.ZodType);
      return composite && name ? [[name, composite] as const] : [];
    }),
  );
  return [...printer.declarations.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, text]) => {
      const composite = composites.get(name);
      return {
        title: `Type ${code(name)}`,
        body: [
          composite ? `${code(`public.${composite.name}`)}. ${composite.comment}` : "",
          `\`\`\`ts\n${text.replace(/^export /gm, "").trimEnd()}\n\`\`\``,
        ],
      };
    });
}

const INTRO = `Written by \`npm run reference\` from the schema, from the shapes that the suite holds every answer against, and
from the list of errors. How things work together is on the [other pages](api.md).

Who is who: **public** has no token (role \`anon\`), **professional** is signed in or a program with a key
(\`authenticated\`), **client** has signed in to the portal (\`portal_client\`), **link** holds the link of one booking
(\`portal_booking\`), **server** has the secret key (\`service_role\`) and reads and writes every column of every row.

Instants are \`YYYY-MM-DDTHH:MM:SS.mmmZ\` in answers; any RFC 3339 time with an offset is taken. Amounts are exact numbers in
the currency beside them. Types are those of TypeScript, as the package in \`client/\` exports them.`;

export function referenceText(model: Model): string {
  const printer = new Printer(commentsOf(model));
  const rpcs = model.functions.filter((fn) => !fn.relationshipOf);
  const routes = (isPublic: boolean) =>
    ROUTES.filter((route) => ["professional", "client", "public"].includes(route.for) === isPublic);

  // Before the types, of which they name some more.
  const errors = errorTables(printer, inline);
  const chapters: (Section & { sections?: Section[] })[] = [
    {
      title: "Tables",
      body: [
        "Behind `/rest/v1/<table>`. Another column than those is refused with " +
          `${linked("42501")}; a row of somebody else is not there.`,
        "For embedding: `products` has `variants(*)` and `parent(*)`, and every foreign key here names its table.",
        table(
          ["type", "is", "what"],
          model.domains.map((domain) => [
            code(domain.name),
            code(domain.baseType),
            domain.comment ?? "",
          ]),
        ),
      ],
      sections: model.tables.map((found) => tableSection(model, found, printer)),
    },
    {
      title: "RPCs",
      body: [
        "Arguments go by name, in a JSON object. An argument that is not there, or one too many, is " +
          `${linked("PGRST202")}. Beside its own errors any call of the Data API may answer with: ` +
          `${COMMON_ERRORS.map(linked).join(", ")}.`,
      ],
      sections: rpcs.filter(isForUsers).map((fn) => rpcSection(fn, printer)),
    },
    {
      title: "RPCs for servers",
      body: ["What the functions call with the secret key. Nobody else may."],
      sections: rpcs.filter((fn) => !isForUsers(fn)).map((fn) => rpcSection(fn, printer)),
    },
    {
      title: "Routes",
      body: [
        "Of the functions, behind `/functions/v1`. Beside its own errors each may answer with: " +
          `${COMMON_ROUTE_ERRORS.map(linked).join(", ")}.`,
      ],
      sections: routes(true).map((route) => routeSection(route, printer)),
    },
    {
      title: "Routes for servers",
      body: ["For the scheduler, providers and operators."],
      sections: routes(false).map((route) => routeSection(route, printer)),
    },
    {
      title: "Webhook events",
      body: [
        "The body of each; how they come is in [webhooks.md](webhooks.md), and their JSON Schema in " +
          "[webhook-events.schema.json](webhook-events.schema.json). `previous` has the changed fields as they were.",
        ...events(printer),
      ],
    },
    { title: "Types", body: [], sections: types(model, printer) },
    {
      title: "Settings",
      body: [
        "Columns of the one row of `private.settings`; how they are changed is in [operations.md](operations.md#settings).",
        table(
          ["setting", "type", "default", "what"],
          model.settings.map((setting) => [
            code(setting.name),
            code(setting.type),
            setting.default
              ? code(setting.default.replace(/::\w+$/, "").replaceAll("'", ""))
              : "null",
            setting.comment ?? "",
          ]),
        ),
      ],
    },
    { title: "Limits", body: limits() },
    { title: "Errors", body: errors },
  ];

  const written = chapters.map(({ title, body, sections = [] }) =>
    [
      `## ${title}`,
      ...body,
      ...sections.flatMap((section) => [`### ${section.title}`, ...section.body]),
    ]
      .filter(Boolean)
      .join("\n\n")
      .replace(/ +$/gm, ""),
  );
  return `${["# Reference", INTRO, contents(chapters), ...written].join("\n\n")}\n`;
}
