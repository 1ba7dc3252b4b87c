import { describe, expect, test } from "vitest";
import { parseBody } from "../../local/api/auth-requests.ts";

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
