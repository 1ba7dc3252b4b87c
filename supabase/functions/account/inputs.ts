/** Shapes of what professionals send to the account function. */
import { z } from "zod";

/** Longest body of a request, in bytes. */
export const BODY_LIMIT = 2_000;

/** Without the confirmation nothing happens, and the answer says what would. */
export const Deletion = z.strictObject({ confirmation: z.string().max(200).optional() });
