/** The list of errors in reference/ against all that raises, expects or explains one. */
import { expect, test } from "vitest";
import { ERRORS } from "../../reference/shapes/errors.ts";
import {
  expectedCodes,
  expectedErrors,
  filesIn,
  raisedErrors,
  raisedWithDetails,
  readFile,
} from "../support/raised-errors.ts";

const errorsOf = (entries: readonly (typeof ERRORS)[number][]) =>
  entries.flatMap(({ code, statuses }) => statuses.map((status) => `${status} ${code}`));
const listed = errorsOf(ERRORS);
const codes = new Set<string>(ERRORS.map(({ code }) => code));

/** What tests call a code and no caller of ours is answered with; each has to be in a test. */
const OTHERS: Record<string, string[]> = {
  "Stripe's own": [
    "account_invalid",
    "amount_too_small",
    "card_declined",
    "charge_already_refunded",
    "charge_disputed",
    "determining_status",
    "idempotency_key_in_use",
    "insufficient_funds",
    "more_permissions_required",
    "parameter_unknown",
    "payment_intent_unexpected_state",
    "rate_limit",
    "requirements_past_due",
    "resource_missing",
    "routine_onboarding",
  ],
  "why an account or a calendar elsewhere could not be read, in rows and logs": [
    "account_wrong_mode",
    "http_error",
    "no_answer_in_time",
    "no_connection",
    "none",
    "too_large",
    "too_many_redirects",
  ],
  "of the client package, where no answer of ours came": ["network", "unknown"],
  "codes of mails": ["000000", "012345", "12345", "1234567", "12e456"],
  "of SQL in a session of the database, or of answers that a function hides": [
    "08001",
    "P0002",
    "XX000",
  ],
  "what a test makes up": ["42", "7", "cancelled", "x"],
};
const others = Object.values(OTHERS).flat();

const tests = filesIn("tests/", ".ts")
  .filter((path) => path !== "tests/unit/errors.test.ts")
  .map((path) => [path, readFile(path)] as const);

test("what the database and the functions raise is listed, with its status, and no more is ours", () => {
  const ours = errorsOf(ERRORS.filter(({ of }) => of === "ours"));
  expect(ours.toSorted()).toEqual(raisedErrors().toSorted());
});

test("details have a shape where JSON is handed over for them", () => {
  const shaped = errorsOf(ERRORS.filter(({ of, details }) => of === "ours" && details));
  expect(shaped.toSorted()).toEqual([...new Set(raisedWithDetails())].toSorted());
});

test("an error has one entry", () => {
  const repeated = listed.filter((error, index) => listed.indexOf(error) !== index);
  // Sizes are bounded by our functions and by the platform's edge, and to a caller they are one.
  expect(repeated).toEqual(["413 payload_too_large"]);
});

test("what tests expect is listed, with its status", () => {
  const isOther = (error: string) => others.includes(error.replace(/^\d{3} /, ""));
  const unlisted = tests.flatMap(([path, text]) =>
    [
      ...expectedErrors(text).filter((error) => !listed.includes(error)),
      ...expectedCodes(text).filter((code) => !codes.has(code)),
    ]
      .filter((error) => !isOther(error))
      .map((error) => `${path}: ${error}`),
  );
  expect(unlisted).toEqual([]);
});

test("what is no error of ours, and is left out of that, stands in a test", () => {
  const all = tests.map(([, text]) => text).join("\n");
  const expected = [
    ...expectedCodes(all),
    ...expectedErrors(all).map((error) => error.replace(/^\d{3} /, "")),
  ];
  expect(others.filter((code) => !expected.includes(code))).toEqual([]);
});

test("what a table of the docs explains is listed, with its status", () => {
  const rows = filesIn("docs/", ".md").flatMap(
    (page) => readFile(page).match(/^\| [1-5]\d\d[\d ,/]* \| `.*$/gm) ?? [],
  );
  const unlisted = rows.flatMap((row) => {
    const [, statuses = "", names = ""] = row.split("|");
    return [...names.matchAll(/`(\w+)`/g)]
      .map(([, code]) => code ?? "")
      .filter(
        (code) => !(statuses.match(/\d{3}/g) ?? []).some((s) => listed.includes(`${s} ${code}`)),
      );
  });
  expect(rows.length).toBeGreaterThan(100);
  expect(unlisted).toEqual([]);
});

test("an entry says when, and what to do, in sentences that fit a table", () => {
  for (const { code, when, todo } of ERRORS) {
    expect(when, code).toMatch(/^\S.*[^.\s]$/);
    expect(todo, code).toMatch(/^[A-Z].*\.$/);
    expect(when + todo, code).not.toMatch(/[|\n]/);
  }
});
