/** Starts as facts, and those that a refusal offers instead. */
import { ApiError } from "./api.ts";
import { clocksDiffer, type Instant, momentText, timeOf, visitorZone, zoneText } from "./format.ts";
import { goTo } from "./route.ts";
import { shared } from "./texts/index.ts";
import { Button, type Fact } from "./ui.tsx";

const texts = shared.slots;

/** By the visitor's clock, and by the professional's where that shows another time. */
export function when(start: Instant, zone: string, end?: Instant): Fact[] {
  const text = (by: string) => momentText(start, by) + (end ? `–${timeOf(end, by)}` : "");
  const differs = clocksDiffer(start, visitorZone, zone);
  return [
    [differs ? texts.inZone(zoneText(visitorZone)) : texts.when, text(visitorZone)],
    differs && [texts.inZone(zoneText(zone)), text(zone)],
  ];
}

export function NextStarts({ error }: { error: unknown }) {
  const details = error instanceof ApiError ? error.details : null;
  const { next_starts: starts = [] } = (details ?? {}) as { next_starts?: Instant[] };
  if (starts.length === 0) return null;
  return (
    <>
      <p>{texts.next}</p>
      <div class="actions">
        {starts.map((start) => (
          <Button key={start} onClick={() => goTo({ start }, { replace: true })}>
            {momentText(start, visitorZone, "day")}
          </Button>
        ))}
      </div>
    </>
  );
}
