/** Shapes of what portal callers send. */
import { z } from "zod";

/** Longest body of a portal request, in bytes. */
export const BODY_LIMIT = 10_000;

/** A part of an address. Half a surrogate pair (`Cs`) is no text for the database. */
const PART = String.raw`[^\s@<>(),;:"\\\p{Cc}\p{Cs}]+`;

/** One plain address. The database compares it trimmed and without case, like the stored ones. */
export const email = z
  .string()
  .trim()
  // Ends the checks: the next one takes quadratic time on long text.
  .max(320, { abort: true })
  .regex(new RegExp(`^${PART}@${PART}\\.${PART}$`, "u"), { error: "is not an e-mail address" });

/** Id of the professional whose client signs in. */
export const professionalId = z.guid();
