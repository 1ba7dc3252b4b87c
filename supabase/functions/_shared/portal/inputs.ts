/** Shapes of what portal callers send. */
import { z } from "zod";

/** Longest body of a portal request, in bytes. */
export const BODY_LIMIT = 10_000;

/** One plain address. The database compares it trimmed and without case, like the stored ones. */
export const email = z
  .string()
  .trim()
  .max(320)
  .regex(/^[^\s@<>(),;:"\\\p{Cc}]+@[^\s@<>(),;:"\\\p{Cc}]+\.[^\s@<>(),;:"\\\p{Cc}]+$/u, {
    error: "is not an e-mail address",
  });

/** Id of the professional whose client signs in. */
export const professionalId = z.guid();
