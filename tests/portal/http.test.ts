import { describe, expect, test } from "vitest";
import { outcome } from "../support/portal.ts";
import { stack } from "../support/stack.ts";

const PROFESSIONAL = "11111111-1111-4111-8111-111111111111";

const FUNCTIONS = [
  ["send-portal-otp", { email: "nobody@example.com", professionalId: PROFESSIONAL }],
  [
    "verify-portal-otp",
    { email: "nobody@example.com", professionalId: PROFESSIONAL, code: "012345" },
  ],
] as const;

const call = (path: string, init: RequestInit) =>
  fetch(`${stack.apiUrl}/functions/v1/${path}`, init);

describe.each(FUNCTIONS)("%s", (slug, valid) => {
  const post = (body: BodyInit, headers: Record<string, string> = {}, path: string = slug) =>
    call(path, {
      method: "POST",
      body,
      headers: { "content-type": "application/json", ...headers },
    });

  /** What a request that reaches the function's work answers here: nobody is a client. */
  const reached = slug === "send-portal-otp" ? 200 : 401;

  test("needs neither key nor token", async () => {
    expect(
      (await post(JSON.stringify({ ...valid, professionalId: crypto.randomUUID() }))).status,
    ).toBe(reached);
  });

  test.each(["GET", "PUT", "PATCH", "DELETE"])(
    "%s is 405 and told what is allowed",
    async (method) => {
      const response = await call(slug, { method });
      expect(response.headers.get("allow")).toBe("POST, OPTIONS");
      expect(response.headers.get("access-control-allow-origin")).toBe("*");
      expect(await outcome(response)).toEqual({ status: 405, code: "method_not_allowed" });
    },
  );

  test("a browser may ask from anywhere and read Retry-After", async () => {
    const preflight = await call(slug, {
      method: "OPTIONS",
      headers: {
        origin: "https://portal.example",
        "access-control-request-method": "POST",
        "access-control-request-headers": "authorization,content-type",
      },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get("access-control-allow-origin")).toBe("*");
    expect(preflight.headers.get("access-control-allow-methods")).toBe("POST");
    expect(preflight.headers.get("access-control-allow-headers")?.split(", ").sort()).toEqual([
      "apikey",
      "authorization",
      "content-type",
      "x-client-info",
    ]);
    const answer = await post("{}", { origin: "https://portal.example" });
    expect(answer.headers.get("access-control-allow-origin")).toBe("*");
    expect(answer.headers.get("access-control-expose-headers")).toBe("Retry-After");
  });

  test("another content type is 415", async () => {
    for (const type of ["text/plain", "application/x-www-form-urlencoded", ""]) {
      const response = await post(JSON.stringify(valid), { "content-type": type });
      expect(await outcome(response)).toEqual({ status: 415, code: "unsupported_media_type" });
    }
  });

  test("what is no JSON is 400", async () => {
    for (const body of ["", "{", "email=nobody@example.com", new Uint8Array([0x22, 0xff, 0x22])]) {
      expect(await outcome(await post(body))).toEqual({ status: 400, code: "invalid_json" });
    }
  });

  test("every field that is wrong is named in a 422", async () => {
    const wrong = { ...valid, email: "nobody", professionalId: "1", code: "12345", admin: true };
    const response = await post(JSON.stringify(wrong));
    expect(response.status).toBe(422);
    const { code, details } = await response.json();
    expect(code).toBe("validation_failed");
    expect(Object.keys(JSON.parse(details).fields).sort()).toEqual([
      "admin",
      "code",
      "email",
      "professionalId",
    ]);
  });

  test("a body of 10 kB is read, a longer one is 413", async () => {
    const body = JSON.stringify({ ...valid, professionalId: crypto.randomUUID() });
    expect((await post(body.padEnd(10_000))).status).toBe(reached);
    const response = await post(body.padEnd(10_001));
    expect(await outcome(response)).toEqual({ status: 413, code: "payload_too_large" });
  });

  test("there is nothing at another address below it", async () => {
    for (const path of ["x", "sign-out/x", "..%2fverify-portal-otp", "__proto__"]) {
      const response = await post(JSON.stringify(valid), {}, `${slug}/${path}`);
      expect(await outcome(response)).toEqual({ status: 404, code: "not_found" });
    }
  });
});

test("sign-out needs a bearer, not a body", async () => {
  const response = await call("verify-portal-otp/sign-out", { method: "POST" });
  expect(response.headers.get("www-authenticate")).toBe("Bearer");
  expect(await outcome(response)).toEqual({ status: 401, code: "invalid_token" });
});
