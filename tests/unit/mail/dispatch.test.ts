/** The dispatcher of mails without a stack: every mail once, the rate, the limit, and what can go wrong. */
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Links, links } from "../../../supabase/functions/_shared/links.ts";
import { type MailOutcome, mailProvider } from "../../../supabase/functions/_shared/mail.ts";
import { type DispatchDeps, dispatch } from "../../../supabase/functions/mail/dispatch.ts";
import { claim } from "../../support/mail-facts.ts";
import { type FakeResend, RESEND_KEY, startResend } from "../../support/resend.ts";

let resend: FakeResend;

beforeEach(async () => {
  resend = await startResend();
});

afterEach(() => resend.close());

const signer = links((name) =>
  name === "LINK_SIGNING_KEY" ? "a-key-for-links-with-at-least-32-characters" : undefined,
) as Links;

type ClaimedMail = ReturnType<typeof claim>;

/** Claimed mails with ids of their own; the last group of digits is the number. */
function numbered(number: number, mail: ClaimedMail): ClaimedMail {
  return { ...mail, mail_id: `${mail.mail_id.slice(0, 24)}${String(number).padStart(12, "0")}` };
}

/** A queue as the database keeps it, with a clock that pauses move. */
function setUp(mails: ClaimedMail[], perSecond = 1000) {
  let clock = 0;
  const queued = [...mails];
  const finished = new Map<string, MailOutcome>();
  const errors: unknown[] = [];
  const claims: number[] = [];
  const store: DispatchDeps["store"] = {
    claim: async (count) => {
      claims.push(count);
      return queued.splice(0, count);
    },
    finish: async ({ mail_id }, outcome) => void finished.set(mail_id, outcome),
  };
  const env: Record<string, string> = {
    MAIL_FROM: "Bookings <bookings@example.com>",
    RESEND_API_KEY: RESEND_KEY,
    RESEND_BASE_URL: resend.url,
  };
  const deps: DispatchDeps = {
    store,
    provider: mailProvider((name) => env[name]),
    perSecond,
    links: signer,
    portalUrl: "https://portal.example/",
    functionsUrl: "https://api.example/functions/v1",
    onError: (cause) => errors.push(cause),
    now: () => new Date(clock),
    pause: async (milliseconds) => {
      clock += milliseconds;
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
  return { deps, queued, finished, errors, claims, time: () => clock };
}

const reminders = (count: number) =>
  Array.from({ length: count }, (_, number) =>
    numbered(number, claim("client", "booking_reminder")),
  );

test("two dispatchers and 100 mails make 100 sends", async () => {
  const { deps, finished, errors } = setUp(reminders(100));
  await Promise.all([dispatch(deps), dispatch(deps)]);
  expect(finished.size).toBe(100);
  expect(resend.requests).toHaveLength(100);
  expect(new Set(resend.requests.map(({ key }) => key)).size).toBe(100);
  expect(errors).toEqual([]);
});

test("one dispatcher sends at most 100, at most ten at a time", async () => {
  const { deps, finished, queued, claims } = setUp(reminders(130));
  await dispatch(deps);
  expect(finished.size).toBe(100);
  expect(queued).toHaveLength(30);
  expect(Math.max(...claims)).toBe(10);
});

test("a claim that the rate keeps empty is made once more, after the time of one mail", async () => {
  const { deps, finished, time } = setUp(reminders(3), 2);
  // Nothing that takes time, which the clock here would not know of.
  deps.links = undefined;
  deps.provider.deliver = async () => ({ result: "sent", id: "1" });
  const { claim } = deps.store;
  const claimed: number[] = [];
  // One mail each half a second.
  let next = 0;
  deps.store.claim = async (count) => {
    const allowed = time() >= next ? await claim(Math.min(count, 1)) : [];
    if (allowed.length > 0) next = time() + 500;
    claimed.push(allowed.length);
    return allowed;
  };
  await dispatch(deps);
  expect(finished.size).toBe(3);
  // And no more than twice when nothing is left.
  expect(claimed.slice(claimed.lastIndexOf(1))).toEqual([1, 0, 0]);
});

test("what was sent is noted with the provider's id", async () => {
  const { deps, finished } = setUp(reminders(1));
  await dispatch(deps);
  expect([...finished.values()]).toEqual([{ result: "sent", id: [...resend.sent.keys()][0] }]);
});

test("a mail that was sent, but not noted, goes out under the same key: it is not sent twice", async () => {
  const { deps, finished, errors, queued } = setUp(reminders(1));
  const { finish } = deps.store;
  deps.store.finish = () => Promise.reject(new Error("no database"));
  await dispatch(deps);
  expect(errors).toEqual([new Error("no database")]);
  expect(resend.sent.size).toBe(1);

  // Its lease ends, and the next dispatcher claims it, with another token.
  deps.store.finish = finish;
  queued.push({ ...(reminders(1)[0] as ClaimedMail), claim_token: "another", attempt: 2 });
  await dispatch(deps);
  expect(resend.requests).toHaveLength(2);
  expect(resend.requests[0]?.key).toBe(resend.requests[1]?.key);
  expect(resend.sent.size).toBe(1);
  expect([...finished.values()]).toEqual([{ result: "sent", id: [...resend.sent.keys()][0] }]);
});

describe("a mail that is not taken", () => {
  test.each([
    [{ status: 503, headers: { "retry-after": "30" } }, "retry", 30],
    [{ status: 429, name: "monthly_quota_exceeded" }, "quota", 3600],
    [{ status: 422, name: "validation_error" }, "refused", null],
  ] as const)("because of %j is noted as %s", async (fault, result, retryAfter) => {
    const { deps, finished, errors } = setUp(reminders(1));
    resend.fault = () => fault;
    await dispatch(deps);
    expect([...finished.values()]).toMatchObject([{ result, retryAfter }]);
    expect(String(errors[0])).toContain(`${result}, status ${fault.status}`);
    expect(String(errors[0])).not.toContain("marta");
  });

  test("holds up no other", async () => {
    const { deps, finished } = setUp(reminders(20));
    resend.fault = ({ key }) => (key?.includes("000000000003-") ? "cut" : undefined);
    await dispatch(deps);
    const results = [...finished].filter(([, { result }]) => result !== "sent");
    expect(results).toEqual([
      [expect.stringMatching(/3$/), expect.objectContaining({ result: "retry" })],
    ]);
    expect(finished.size).toBe(20);
  });
});

test("a mail that cannot be written is tried later, and holds up no other", async () => {
  const broken = numbered(1, { ...claim("client", "booking_reminder"), booking: null });
  const unknown = numbered(2, { ...claim("client", "booking_reminder"), kind: "of_tomorrow" });
  const linkless = numbered(3, claim("professional", "confirm_address"));
  const { deps, finished, errors } = setUp([broken, unknown, linkless, ...reminders(1)]);
  deps.portalUrl = undefined;
  await dispatch(deps);
  for (const { mail_id } of [broken, unknown, linkless]) {
    expect(finished.get(mail_id)).toMatchObject({ result: "retry" });
  }
  expect(resend.sent.size).toBe(1);
  expect(errors.length).toBeGreaterThanOrEqual(2);
});

test("the links are in the mail, and unsubscribing in its headers", async () => {
  const { deps } = setUp(reminders(1));
  await dispatch(deps);
  const [mail] = [...resend.sent.values()];
  expect(mail?.text).toContain("https://portal.example/#manage=");
  expect(mail?.headers).toMatchObject({
    "List-Unsubscribe": expect.stringMatching(
      /^<https:\/\/api\.example\/functions\/v1\/mail\/unsubscribe\?t=[\w.-]+>$/,
    ),
    "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
  });
});
