/** Where Stripe may send people back to: the pages that are listed, however the address is written. */
import { describe, expect, test } from "vitest";
import { EnvError } from "../../../supabase/functions/_shared/env.ts";
import { ApiError } from "../../../supabase/functions/_shared/errors.ts";
import { type Refusal, returnUrls } from "../../../supabase/functions/payments/return-urls.ts";

const LISTED =
  "https://app.example/pay, https://shop.example:8443,http://localhost:3000/, http://127.0.0.1:5173/app/";

/** Why an address is refused; null when it is not. */
function refusal(address: string, listed = LISTED): Refusal | null {
  const check = returnUrls((name) => (name === "PAYMENTS_RETURN_URLS" ? listed : undefined));
  try {
    check("success_url", address);
    return null;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    expect([error.status, error.code]).toEqual([422, "return_url_not_allowed"]);
    const { field, reason } = JSON.parse(error.body.details ?? "");
    expect(field).toBe("success_url");
    return reason;
  }
}

describe("an address", () => {
  test.each([
    "https://app.example/pay",
    "https://app.example/pay/",
    "https://app.example/pay/done?order=1&session={CHECKOUT_SESSION_ID}#thanks",
    "https://app.example/pay?next=https%3A%2F%2Fapp.example%2F..",
    "https://app.example:443/pay/1",
    "https://APP.example/pay/1",
    "https://shop.example:8443",
    "https://shop.example:8443/any/where",
    "http://localhost:3000/done",
    "http://127.0.0.1:5173/app/done",
  ])("%s is allowed", (address) => {
    expect(refusal(address)).toBeNull();
  });

  test.each<[string, Refusal]>([
    ["http://app.example/pay", "not_https"],
    ["ftp://app.example/pay", "not_https"],
    ["javascript://app.example/pay%0aalert(1)", "not_https"],
    ["data:text/html,x", "not_https"],
    ["https://app.example/", "not_listed"],
    ["https://app.example/payment", "not_listed"],
    ["https://app.example/pay-me/done", "not_listed"],
    ["https://app.example//pay", "not_listed"],
    ["https://app.example/PAY", "not_listed"],
    ["https://app.example/p%61y", "not_listed"],
    ["https://app.example:8443/pay", "not_listed"],
    ["https://app.example.evil.example/pay", "not_listed"],
    ["https://evil.example/https://app.example/pay", "not_listed"],
    ["https://evil.example?https://app.example/pay", "not_listed"],
    ["https://evil.example#https://app.example/pay", "not_listed"],
    ["https://shop.example/any", "not_listed"],
    ["http://localhost/done", "not_listed"],
    ["http://localhost:3001/done", "not_listed"],
    ["http://127.0.0.1:3000/done", "not_listed"],
    ["http://127.0.0.1:5173/", "not_listed"],
    ["http://localhost.evil.example:3000/", "not_https"],
    ["https://localhost:3000/done", "not_listed"],
    ["https://app.example@evil.example/pay", "user_info_not_allowed"],
    ["https://user:pw@app.example/pay", "user_info_not_allowed"],
    ["https://@app.example/pay", "user_info_not_allowed"],
    ["https://app.example/pay/../admin", "path_not_plain"],
    ["https://app.example/pay/..", "path_not_plain"],
    ["https://app.example/admin/../pay", "path_not_plain"],
    ["https://app.example/pay/./x", "path_not_plain"],
    ["https://app.example/pay/%2e%2e/admin", "path_not_plain"],
    ["https://app.example/pay/.%2E/admin", "path_not_plain"],
    ["https://app.example/pay/%2e%2e%2fadmin", "path_not_plain"],
    ["https://app.example/pay/..%2fadmin", "path_not_plain"],
    ["https://app.example/pay/..%5Cadmin", "path_not_plain"],
    ["https://app.example/pay/%252e%252e/admin", "path_not_plain"],
    ["https://app.example/pay\\..\\admin", "not_a_url"],
    ["https:\\\\app.example/pay", "not_a_url"],
    ["https://evil.example\\@app.example/pay", "not_a_url"],
    ["https:///app.example/pay", "not_a_url"],
    ["https:/app.example/pay", "not_a_url"],
    ["https:app.example/pay", "not_a_url"],
    ["https://app.ex%61mple/pay", "not_a_url"],
    ["https://аpp.example/pay", "not_a_url"],
    ["https://app.example\t/pay", "not_a_url"],
    ["\nhttps://app.example/pay", "not_a_url"],
    ["https://app.example/pay ", "not_a_url"],
    ["https://app.example/pay/\0", "not_a_url"],
    ["//app.example/pay", "not_a_url"],
    ["/pay", "not_a_url"],
    ["", "not_a_url"],
  ])("%s is refused, %s", (address, reason) => {
    expect(refusal(address)).toBe(reason);
  });

  test("of this machine is allowed only where it is listed", () => {
    expect(refusal("http://localhost:3000/", "https://app.example")).toBe("not_listed");
    expect(refusal("http://localhost:3000/", "http://localhost:3000")).toBeNull();
  });
});

describe("the list", () => {
  test.each([
    undefined,
    "",
    "app.example",
    "*",
    "https://*.app.example",
    "http://app.example",
    "https://user@app.example",
    "https://app.example/pay?x=1",
    "https://app.example/pay#x",
    "https://app.example/a/../b",
    "https://app.example,",
  ])("%s stops the function at its start", (listed) => {
    expect(() => returnUrls(() => listed)).toThrow(EnvError);
  });
});
