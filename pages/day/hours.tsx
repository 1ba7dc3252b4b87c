/** Working hours of one date, and closing it. */
import { useAction } from "../shared/action.ts";
import { type IsoDate, weekdayOf } from "../shared/format.ts";
import { Button } from "../shared/ui.tsx";
import { changedElsewhere, type Profile } from "./diary.ts";
import { api } from "./session.ts";
import { texts } from "./texts/index.ts";
import { boundsOf } from "./time.ts";

type Availability = Profile["availability"];
const WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;

function hoursOf({ availability }: Pick<Profile, "availability">, date: IsoDate) {
  const { weekly, overrides = {} } = availability as Partial<Availability>;
  const special = overrides[date];
  const windows = special ?? weekly?.[WEEKDAYS[weekdayOf(date)] ?? "mon"] ?? [];
  return { overrides, special, windows };
}

export function hoursText(profile: Profile, date: IsoDate): string {
  const { windows, special } = hoursOf(profile, date);
  if (windows.length === 0) return special ? texts.closedOnce : texts.closed;
  return texts.open(windows.map((window) => window.join("–")).join(", "));
}

/**
 * Closes a date, or gives it the week's hours again. All working hours are one value, which another tab may have
 * written meanwhile: what is sent is made of what is there now, and taken only if that is still there then.
 */
async function setClosed(seen: Profile, date: IsoDate, closed: boolean): Promise<void> {
  const profiles = () => api.from("profiles");
  const [now] = await api.run(profiles().select("availability, updated_at").eq("id", seen.id));
  if (!now) throw changedElsewhere();
  const { overrides, special } = hoursOf(now, date);
  const wasSeen = JSON.stringify(special) === JSON.stringify(hoursOf(seen, date).special);
  const { [date]: _, ...others } = overrides;
  const changedOverrides = closed ? { ...others, [date]: [] } : others;
  const availability = { ...now.availability, overrides: changedOverrides };
  const update = profiles().update({ availability }).eq("updated_at", now.updated_at);
  const changed = wasSeen && (await api.run(update.eq("id", seen.id).select("id")));
  if (!changed || changed.length === 0) throw changedElsewhere();
}

interface HoursProps {
  profile: Profile;
  date: IsoDate;
  isPast: boolean;
  act: (work: () => Promise<unknown>, said: string) => Promise<void>;
}

export function Hours({ profile, date, isPast, act }: HoursProps) {
  const { windows, special } = hoursOf(profile, date);
  const set = useAction((closed: boolean) =>
    act(() => setClosed(profile, date, closed), closed ? texts.closedNow : texts.openNow),
  );
  const button = (closed: boolean, label: string) => (
    <Button kind="link" busy={set.busy} onClick={() => set.run(closed)}>
      {label}
    </Button>
  );
  const [start = 0, end = 0] = boundsOf(date, date, profile.time_zone).map(Date.parse);
  const length = (end - start) / 3_600_000;
  return (
    <div class="row apart">
      <p class="faint">{hoursText(profile, date)}</p>
      {length !== 24 && <p class="faint">{length < 24 ? texts.forward : texts.backward}</p>}
      {!isPast && special && button(false, texts.openDay)}
      {!isPast && windows.length > 0 && button(true, texts.closeDay)}
    </div>
  );
}
