/** Why a calendar cannot be read. What cannot be read is never taken for free. */
import { oneLine } from "../../_shared/one-line.ts";

export type RefusalCode =
  /** The text is no iCalendar object. */
  | "not_a_calendar"
  /** It ends too early, or its parts are not closed in order: events may be missing. */
  | "malformed_calendar"
  /** A time, a length or an offset that is none. The detail names the property. */
  | "invalid_event"
  /** The detail names the zone. */
  | "unknown_zone"
  /** A recurrence that is not understood, or not wanted. The detail is the rule. */
  | "rule_refused"
  /** More recurrence than a reading may take. */
  | "too_complex";

/** Longest detail, in characters: it is shown to a person. */
const DETAIL_LENGTH = 200;

export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly detail: string | null;

  constructor(
    readonly code: RefusalCode,
    detail?: string,
  ) {
    super(code);
    this.detail = detail === undefined ? null : oneLine(detail.slice(0, DETAIL_LENGTH));
  }
}
