/** Working hours of one date, and closing it. */
import { useAction } from "../shared/action.ts";
import { type IsoDate, weekdayOf } from "../shared/format.ts";
import { Button } from "../shared/ui.tsx";
import { changedElsewhere, type Profile } from "./diary.ts";
import { api } from "./session.ts";
import { texts } from "./texts/index.ts";
import { boundsOf } from "./time.ts";

type Windows = [from: string, to: string][];
interface Availability {
  weekly?: Record<string, Windows>;
  overrides?: Record<IsoDate, Windows>;
}
const WEEKDAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;

function hoursOf(profile: Pick<Profile, "availability">, date: IsoDate) {
  const { weekly = {}, overrides = {} } = profile.availability as Availability;
  const special = overrides[date];
  const windows = special ?? weekly[WEEKDAYS[weekdayOf(date)] ?? ""] ?? [];
  return { weekly, overrides, special, windows };
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
  const { weekly, overrides, special } = hoursOf(now, date);
  const wasSeen = JSON.stringify(special) === JSON.stringify(hoursOf(seen, date).special);
  const { [date]: _, ...others } = overrides;
  const availability = { weekly, overrides: closed ? { ...others, [date]: [] } : others };
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
  const [start, end] = boundsOf(date, date, profile.time_zone).map(Date.parse) as [number, number];
  const length = (end - start) / 3_600_000;
  return (
    <div>
      {length !== 24 && <p class="faint">{length < 24 ? texts.forward : texts.backward}</p>}
      <div class="row apart">
        <p class="faint">{hoursText(profile, date)}</p>
        {!isPast && special && button(false, texts.openDay)}
        {!isPast && windows.length > 0 && button(true, texts.closeDay)}
      </div>
    </div>
  );
}
