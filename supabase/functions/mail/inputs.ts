/** Shapes of what the pages that mails lead to send to the mail function. */
import { z } from "zod";

/** Longest body with a token, in bytes. */
export const TOKEN_LIMIT = 4_000;

export const LinkToken = z.strictObject({ token: z.string().max(TOKEN_LIMIT) });
