import { describe, expect, test } from "vitest";
import { checkEmail, parseBody } from "../../../local/api/auth-requests.ts";
import { ADDRESSES, NO_ADDRESSES } from "../../support/email-addresses.ts";

const parse = (text: string) => parseBody(new TextEncoder().encode(text));

describe("the body of a request to the local auth API", () => {
  test("half a surrogate pair is replaced, as the platform's decoder does", () => {
    expect(parse('{"data":{"full_name":"Ana \\ud83c"}}')).toEqual({
      data: { full_name: "Ana \ufffd" },
    });
    expect(parse('{"data":{"full_name":"Ana \\ud83c\\udf38"}}')).toEqual({
      data: { full_name: "Ana 🌸" },
    });
  });

  test.each([
    '{"data":{"full_name":"Ana\\u0000"}}',
    '{"data":[1]}',
    '{"data":"x"}',
    '{"email":7}',
    '{"email":',
    "[]",
    "7",
  ])("%s is refused with bad_json", async (text) => {
    const answer = parse(text);
    if (!(answer instanceof Response)) throw new Error("accepted");
    expect(answer.status).toBe(400);
    expect(await answer.json()).toMatchObject({ error_code: "bad_json" });
  });
});

describe("an address in a request to the local auth API", () => {
  const check = (email: string, path = "/signup") =>
    checkEmail({ method: "POST", path, query: new URLSearchParams(), body: { email } });

  test.each(ADDRESSES)("%j is taken", (address) => {
    expect(check(address)).toBeNull();
  });

  test.each(NO_ADDRESSES)("%j is refused with validation_failed", async (text) => {
    const answer = check(text);
    expect(answer?.status).toBe(400);
    expect(await answer?.json()).toMatchObject({ error_code: "validation_failed" });
  });

  test("is only looked up by a sign-in, which says no more than that it failed", () => {
    expect(check("nobody", "/token")).toBeNull();
    expect(check("nobody", "/verify")).toBeNull();
  });
});
