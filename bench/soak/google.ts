/** Google, as far as there is one: every professional has a calendar there, and it throttles. */
import { dateIn } from "../../tests/support/calendar.ts";
import { closeAtTheEnd } from "../../tests/support/closing.ts";
import { type FakeAccount, type FakeEvent, startGoogle } from "../../tests/support/google.ts";
import { chance, pick } from "./random.ts";
import { now } from "./recorder.ts";

export const google = await startGoogle();
closeAtTheEnd(google.close);

const HOUR_MS = 3_600_000;
/** An hour of a day to come. */
export const hourOf = (day: number, hour: number) => {
  const start = Date.parse(`${dateIn(day)}T00:00Z`) + hour * HOUR_MS;
  return { start: new Date(start).toISOString(), end: new Date(start + HOUR_MS).toISOString() };
};

const OWN = hourOf(4, 6);
export const busyAtGoogle = `${OWN.start}/${OWN.end}`;

/** Somebody whose Google calendar has an event of their own. */
export function accountAtGoogle(): FakeAccount {
  const account = google.grant();
  const times = { start: { dateTime: OWN.start }, end: { dateTime: OWN.end } };
  account.events.set("dentist", { id: "dentist", status: "confirmed", ...times } as FakeEvent);
  return account;
}

const WAIT = { headers: { "retry-after": "1" } };

/** From now on it fails, as long as things are not to settle. */
export function googleThrottles(): void {
  google.fault = () =>
    now.phase !== "settling" && chance(0.05)
      ? pick([
          { status: 429, ...WAIT },
          { status: 403, reason: "userRateLimitExceeded", ...WAIT },
          { status: 500 },
          "cut",
          "lose",
        ])
      : undefined;
}
