import { describe, expect, test } from "vitest";
import { ApiError } from "../../../supabase/functions/_shared/errors.ts";
import type { Mail, MailOutcome } from "../../../supabase/functions/_shared/mail.ts";
import { deletedMail } from "../../../supabase/functions/account/deleted-mail.ts";
import { type AccountDeps, createHandler } from "../../../supabase/functions/account/handler.ts";
import { userDeleter } from "../../../supabase/functions/account/users.ts";

const ACCOUNT = "11111111-1111-4111-8111-111111111111";
const CLAIM = "22222222-2222-4222-8222-222222222222";
const goes = { clients: 3, bookings: 7 };
const claim = {
  account_id: ACCOUNT,
  claim_token: CLAIM,
  recipient: "ana@example.com",
  language: "en",
};

/** A handler whose database, auth service and mail are played; `done` has what happened, in order. */
function setUp(
  changed: Partial<AccountDeps> & { claims?: object[][]; outcome?: MailOutcome["result"] } = {},
) {
  const { claims = [[claim]], outcome = "sent", ...deps } = changed;
  const left = [...claims];
  const done: unknown[] = [];
  const logged: unknown[] = [];
  const tasks: Promise<void>[] = [];
  const handler = createHandler({
    corsOrigins: "*",
    log: (entry) => logged.push(entry.cause),
    newRequestId: () => "request-1",
    userToken: async () => "token",
    userRpc: async (token, name, args) => {
      done.push([name, token, args]);
      return JSON.stringify({ account_id: ACCOUNT, goes });
    },
    serverRpc: async (name, args) => {
      done.push([name, args]);
      return (name === "claim_account_deletions" ? (left.shift() ?? []) : undefined) as never;
    },
    disconnectGoogle: async (id) => void done.push(["disconnect Google", id]),
    deleteUser: async (id) => {
      done.push(["delete user", id]);
    },
    deliver: async (mail: Mail, id) => {
      done.push(["mail", mail.to, id]);
      return outcome === "sent"
        ? { result: "sent", id: null }
        : { result: outcome, reason: "", retryAfter: null };
    },
    isDispatchSecret: async (key) => key === "the dispatch secret",
    background: (task) => tasks.push(task),
    now: () => new Date(0),
    pause: async () => {},
    ...deps,
  });
  const call = async (path: string, body: unknown, headers: Record<string, string> = {}) => {
    const response = await handler(
      new Request(`https://api.test/account/${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", ...headers },
        body: JSON.stringify(body),
      }),
    );
    const text = await response.text();
    await Promise.all(tasks);
    return { status: response.status, body: text === "" ? null : JSON.parse(text) };
  };
  return {
    done,
    logged,
    ask: (body: unknown = { confirmation: "ana" }) => call("delete", body),
    dispatch: (apikey = "the dispatch secret") => call("dispatch", {}, { apikey }),
  };
}

const asked = ["request_account_deletion", "token", { confirmation: "ana" }];
const claimed = ["claim_account_deletions", { account_id: ACCOUNT, max_count: 1 }];
const finished = (mailed: boolean) => [
  "finish_account_deletion",
  { account_id: ACCOUNT, claim_token: CLAIM, mailed },
];

describe("asking for the account to be deleted", () => {
  test("begins with the call that checks, deletes the user, mails, and forgets", async () => {
    const { ask, done } = setUp();
    expect(await ask()).toEqual({ status: 200, body: { deleted: true, goes } });
    expect(done).toEqual([
      asked,
      claimed,
      ["disconnect Google", ACCOUNT],
      ["delete user", ACCOUNT],
      ["mail", "ana@example.com", ACCOUNT],
      finished(true),
    ]);
  });

  test("does nothing when the call refuses", async () => {
    const { ask, done } = setUp({
      userRpc: async () => {
        throw new ApiError(403, "person_required", "no");
      },
    });
    expect(await ask()).toMatchObject({ status: 403, body: { code: "person_required" } });
    expect(done).toEqual([]);
  });

  test("is 202 while somebody else is at it", async () => {
    const { ask, done } = setUp({ claims: [[]] });
    expect(await ask()).toEqual({ status: 202, body: { deleted: false, goes } });
    expect(done).toEqual([asked, claimed]);
  });

  test("mails nobody where no mail may go", async () => {
    const { ask, done } = setUp({ claims: [[{ ...claim, recipient: null }]] });
    await ask();
    expect(done.slice(2)).toEqual([
      ["disconnect Google", ACCOUNT],
      ["delete user", ACCOUNT],
      finished(true),
    ]);
  });

  test.each<[MailOutcome["result"], boolean]>([
    ["retry", false],
    ["quota", false],
    ["refused", true],
  ])(
    "is answered when the mail ends with %s, which is tried again or not",
    async (outcome, mailed) => {
      const { ask, done } = setUp({ outcome });
      expect((await ask()).status).toBe(200);
      expect(done.at(-1)).toEqual(finished(mailed));
    },
  );

  test.each([{ confirmation: 1 }, { confirmation: "x".repeat(201) }, { confirm: "ana" }, []])(
    "with %j is 422, and nothing is asked",
    async (body) => {
      const { ask, done } = setUp();
      expect(await ask(body)).toMatchObject({ status: 422, body: { code: "validation_failed" } });
      expect(done).toEqual([]);
    },
  );

  test("without a confirmation asks what will go", async () => {
    const { ask, done } = setUp();
    await ask({});
    expect(done[0]).toEqual(["request_account_deletion", "token", { confirmation: undefined }]);
  });
});

describe("broken off", () => {
  const broken = async (): Promise<never> => {
    throw new Error("broken off");
  };

  test("at the user, it mails nothing and is not finished; asked again, it is", async () => {
    const first = setUp({ deleteUser: broken });
    expect((await first.ask()).status).toBe(500);
    expect(first.done).toEqual([asked, claimed, ["disconnect Google", ACCOUNT]]);
    expect(String(first.logged)).toBe("Error: broken off");
    expect((await setUp().ask()).body).toEqual({ deleted: true, goes });
  });

  test("at Google, the account goes all the same", async () => {
    const { ask, done } = setUp({ disconnectGoogle: broken });
    expect((await ask()).body).toEqual({ deleted: true, goes });
    expect(done.at(-1)).toEqual(finished(true));
  });

  test("after the user, a dispatcher does the rest with the same mail", async () => {
    const first = setUp({ deliver: broken });
    expect((await first.ask()).status).toBe(500);
    expect(first.done.at(-1)).toEqual(["delete user", ACCOUNT]);
    const second = setUp();
    expect((await second.dispatch()).status).toBe(202);
    expect(second.done[0]).toEqual(["claim_account_deletions", { account_id: null, max_count: 2 }]);
    const others = (second.done as unknown[][]).filter(
      ([name]) => name !== "claim_account_deletions",
    );
    expect(others).toEqual([
      ["disconnect Google", ACCOUNT],
      ["delete user", ACCOUNT],
      ["mail", "ana@example.com", ACCOUNT],
      finished(true),
    ]);
  });

  test("one account holds up no other", async () => {
    const other = { ...claim, account_id: CLAIM };
    const { dispatch, done, logged } = setUp({
      claims: [[claim, other]],
      deleteUser: async (id) => (id === ACCOUNT ? broken() : undefined),
    });
    await dispatch();
    expect(done).toContainEqual(["mail", "ana@example.com", CLAIM]);
    expect(String(logged)).toBe("Error: broken off");
  });

  test("and only the scheduler may ask for the rest", async () => {
    const { dispatch, done } = setUp();
    expect(await dispatch("x")).toMatchObject({ status: 401, body: { code: "invalid_api_key" } });
    expect(done).toEqual([]);
  });
});

describe("deleting a user", () => {
  const env = { supabaseUrl: "https://api.test", secretKey: "sb_secret_x" };
  const deleting = async (status: number, body: unknown, key = env.secretKey) => {
    const requests: Request[] = [];
    const fetcher: typeof fetch = async (input, init) => {
      requests.push(new Request(input, init));
      return Response.json(body, { status });
    };
    const outcome = userDeleter({ ...env, secretKey: key }, fetcher)(ACCOUNT);
    return { outcome, requests };
  };

  test("asks the admin API, with the key as that generation wants it", async () => {
    const { outcome, requests } = await deleting(200, {});
    await outcome;
    expect(requests[0]?.method).toBe("DELETE");
    expect(requests[0]?.url).toBe(`https://api.test/auth/v1/admin/users/${ACCOUNT}`);
    expect(requests[0]?.headers.get("apikey")).toBe("sb_secret_x");
    expect(requests[0]?.headers.get("authorization")).toBeNull();
    expect(await requests[0]?.json()).toEqual({ should_soft_delete: false });
    const legacy = await deleting(200, {}, "eyJ");
    await legacy.outcome;
    expect(legacy.requests[0]?.headers.get("authorization")).toBe("Bearer eyJ");
  });

  test("is done when the user is gone already, and never by another 404", async () => {
    const gone = await deleting(404, { code: 404, error_code: "user_not_found", msg: "no" });
    await expect(gone.outcome).resolves.toBeUndefined();
    for (const [status, body] of [
      [404, { message: "no route" }],
      [403, { error_code: "not_admin" }],
      [500, { error_code: "unexpected_failure" }],
    ] as const) {
      const { outcome } = await deleting(status, body);
      await expect(outcome).rejects.toThrow(`status ${status}`);
    }
  });
});

test.each(["en", "it"] as const)("the mail in %s says the same as text and as HTML", (language) => {
  const { to, subject, text, html } = deletedMail("ana@example.com", language);
  expect(to).toBe("ana@example.com");
  expect(subject).not.toBe("");
  const plain = html
    .replace(/<[^>]+>/g, "")
    .replaceAll("&#39;", "'")
    .replaceAll("&quot;", '"');
  expect(plain.split("\n")).toEqual(text.trimEnd().split("\n\n"));
});
