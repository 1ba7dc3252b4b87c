/** Shapes of what professionals send to the calendar function. */
import { z } from "zod";

const NOT_PLAIN = { error: "is empty or has white space in it" };

export const NewCalendar = z.strictObject({
  url: z.string().max(2048).regex(/^\S+$/, NOT_PLAIN),
  name: z.string().max(100).nullable().default(null),
});

export const NewConnection = z.strictObject({
  refresh_token: z.string().max(4096).regex(/^\S+$/, NOT_PLAIN),
});

export const Switches = z
  .strictObject({ push: z.boolean().optional(), busy: z.boolean().optional() })
  .refine(({ push, busy }) => push !== undefined || busy !== undefined, {
    error: "names neither push nor busy",
  });
