/** What a person is shown: something for everything that is not a mistake of the program. */
import { describe, expect, test } from "vitest";
import { ApiError } from "../../../client/src/index.ts";
import { SENTENCES } from "../../../client/src/sentences.ts";
import { ERRORS } from "../../../reference/shapes/errors.ts";

const sentenceOf = (status: number, code: string) =>
  new ApiError(status, { code, message: code }).sentence;
const unknown = sentenceOf(500, "made_up");

/** What only whoever writes or runs the program can do something about. */
const isOfTheProgram = (todo: string) =>
  /^(Fix the call|The operator|Use a new key when)/.test(todo);
/** What waiting mends by itself: the sentence that says to try again is theirs. */
const TRANSIENT = ["internal_error", "unexpected_failure", "WORKER_ERROR"];
const isTransient = (code: string) => TRANSIENT.includes(code) || /^(PGRST00\d|55P03)$/.test(code);

describe("a sentence", () => {
  const cases = ERRORS.flatMap(({ code, statuses, todo }) =>
    statuses.map((status) => ({ code, status, todo })),
  ).filter(({ code, todo }) => !isOfTheProgram(todo) && !isTransient(code));

  test.each(cases)("is there for $status $code", ({ status, code }) => {
    const details = status === 429 ? { retry_after: 5 } : null;
    const { sentence } = new ApiError(status, { code, message: code, details });
    expect(sentence).toMatch(/^[A-Z].*\.$/);
    expect(sentence).not.toBe(unknown);
  });

  test.each(["constructor", "__proto__", "toString"])("is one for the code %s too", (code) => {
    expect(sentenceOf(400, code)).toBe(unknown);
  });

  test("is for a code that there is", () => {
    const codes = new Set<string>(["network", ...ERRORS.map(({ code }) => code)]);
    expect(Object.keys(SENTENCES).filter((key) => !codes.has(key.split(" ")[0] ?? ""))).toEqual([]);
  });

  test("tells two meanings of one code apart", () => {
    expect(sentenceOf(409, "busy")).toContain("calendar");
    expect(sentenceOf(401, "PGRST301")).toContain("sign in");
    expect(sentenceOf(404, "PGRST301")).toContain("not there");
  });

  test.each([
    [1, "1 second"],
    [60, "60 seconds"],
    [600, "10 minutes"],
    [7200, "2 hours"],
  ])("says how long %i seconds are", (retry_after, words) => {
    const error = { code: "rate_limit_exceeded", message: "", details: { retry_after } };
    expect(new ApiError(429, error).sentence).toContain(` ${words}.`);
  });
});
