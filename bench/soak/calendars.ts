/** A calendar elsewhere, whose host fails now and then. */
import { calendarFile, event, stamp, startHost } from "../../tests/support/busy.ts";
import { hourOf } from "./google.ts";
import { chance, int, pick } from "./random.ts";
import { now } from "./recorder.ts";

/** What the host's calendar says last: another hour now and then, as long as it may change. */
let said = hourOf(3, 0);
export const busyElsewhere = () => `${said.start}/${said.end}`;

export const host = await startHost(() => {
  if (now.phase !== "settling") {
    if (chance(0.3)) {
      return pick([{ status: 500 }, { status: 404 }, { hangsUp: true }, { body: "<html></html>" }]);
    }
    said = hourOf(3, int(24));
  }
  return {
    headers: { etag: `"${stamp(said.start)}"` },
    body: calendarFile(event(said.start, said.end)),
  };
});
