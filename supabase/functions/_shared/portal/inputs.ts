/** Shapes of what portal callers send. */
import { z } from "zod";
import { isEmail, trimInvisible } from "../email-address.ts";

/** Longest body of a portal request, in bytes. */
export const BODY_LIMIT = 10_000;

/** One plain address. The database compares it without case, like the stored ones. */
const email = z
  .string()
  // Ends the checks: trimming takes quadratic time on long text.
  .max(320, { abort: true })
  .transform(trimInvisible)
  .refine(isEmail, { error: "is not an e-mail address" });

/** Id of the professional whose client signs in. */
const professionalId = z.guid();

export const CodeRequest = z.strictObject({ email, professionalId });

export const CodeLogin = z.strictObject({
  email,
  code: z.string().regex(/^[0-9]{6}$/, { error: "is not six digits" }),
  professionalId,
});

/** What is behind the `#` of a link in a mail. */
export const LinkToken = z.strictObject({ token: z.string() });
