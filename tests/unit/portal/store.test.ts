import { describe, expect, test } from "vitest";
import { serverRpc } from "../../../supabase/functions/_shared/data-api.ts";
import { ApiError } from "../../../supabase/functions/_shared/errors.ts";
import { portalStore } from "../../../supabase/functions/_shared/portal/store.ts";

const HOLD = "33333333-3333-4333-8333-333333333333";

/** A store whose Data API always answers so. */
function storeOf(status: number, body: object) {
  const sent: [url: string, body: unknown][] = [];
  const fetcher = async (url: string | URL | Request, init?: RequestInit) => {
    sent.push([String(url), JSON.parse(String(init?.body))]);
    return Response.json(body, { status, headers: { "Retry-After": "1" } });
  };
  const env = { supabaseUrl: "https://project.test", secretKey: "sb_secret_1" };
  return { store: portalStore(serverRpc(env, fetcher as typeof fetch)), sent };
}

const refusing = (status: number, code: string) =>
  storeOf(status, { code, message: "no", details: null, hint: null })
    .store.confirmHold("booking", HOLD, 1)
    .catch((reason: unknown) => reason);

describe("confirming a hold", () => {
  test("asks the database with the epoch of the link, and gives what it answers", async () => {
    const { store, sent } = storeOf(200, { kind: "order" });
    expect(await store.confirmHold("order", HOLD, 4)).toEqual({ kind: "order" });
    expect(sent).toEqual([
      ["https://project.test/rest/v1/rpc/confirm_hold", { kind: "order", id: HOLD, link_epoch: 4 }],
    ]);
  });

  test("that is not there, or of another epoch, is null", async () => {
    expect(await refusing(404, "PGRST301")).toBeNull();
  });

  test.each([
    [409, "slot_taken"],
    [409, "hold_expired"],
    [429, "busy"],
  ])("passes on %s %s", async (status, code) => {
    const error = (await refusing(status, code)) as ApiError;
    expect(error).toBeInstanceOf(ApiError);
    expect([error.status, error.body.code]).toEqual([status, code]);
    expect(error.headers["Retry-After"]).toBe("1");
  });

  test.each([
    [404, "PGRST202"],
    [401, "PGRST301"],
    [422, "validation_failed"],
    [500, "XX000"],
  ])("takes %s %s for a fault of ours", async (status, code) => {
    const error = await refusing(status, code);
    expect(error).toBeInstanceOf(Error);
    expect(error).not.toBeInstanceOf(ApiError);
  });
});
