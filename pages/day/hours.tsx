/** Working hours of one date, and closing it. */
import { type IsoDate, weekdayOf } from "../shared/format.ts";
import { changedElsewhere, type Profile } from "./diary.ts";
import { useButtons } from "./entry.tsx";
import { api } from "./session.ts";
import { texts } from "./texts/index.ts";
import { boundsOf } from "./time.ts";

const WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;

function hoursOf({ availability }: Profile, date: IsoDate) {
  const { weekly, overrides = {} } = availability as Partial<Profile["availability"]>;
  const special = overrides[date];
  const windows = special ?? weekly?.[WEEKDAYS[weekdayOf(date)] ?? "mon"] ?? [];
  return { overrides, special, windows };
}

export function hoursText(profile: Profile, date: IsoDate): string {
  const { windows, special } = hoursOf(profile, date);
  if (windows.length === 0) return special ? texts.closedOnce : texts.closed;
  return texts.open(windows.map((window) => window.join("–")).join(", "));
}

/** All working hours are one value: it is taken only if nobody has written the profile since it was read. */
async function setClosed(profile: Profile, date: IsoDate, closed: boolean): Promise<void> {
  const { [date]: _, ...others } = hoursOf(profile, date).overrides;
  const overrides = closed ? { ...others, [date]: [] } : others;
  const availability = { ...profile.availability, overrides };
  const update = api.from("profiles").update({ availability }).eq("id", profile.id);
  const changed = await api.run(update.eq("updated_at", profile.updated_at).select("id"));
  if (changed.length === 0) throw changedElsewhere();
}

interface HoursProps {
  profile: Profile;
  date: IsoDate;
  isPast: boolean;
  act: (work: () => Promise<unknown>, said: string) => Promise<void>;
}

export function Hours({ profile, date, isPast, act }: HoursProps) {
  const { windows, special } = hoursOf(profile, date);
  const button = useButtons();
  const set = (closed: boolean, said: string) => () =>
    act(() => setClosed(profile, date, closed), said);
  const [start = 0, end = 0] = boundsOf(date, date, profile.time_zone).map(Date.parse);
  const length = (end - start) / 3_600_000;
  return (
    <div class="row apart">
      <p class="faint">{hoursText(profile, date)}</p>
      {length !== 24 && <p class="faint">{length < 24 ? texts.forward : texts.backward}</p>}
      {!isPast && special && button(texts.openDay, set(false, texts.openNow))}
      {!isPast && windows.length > 0 && button(texts.closeDay, set(true, texts.closedNow))}
    </div>
  );
}
