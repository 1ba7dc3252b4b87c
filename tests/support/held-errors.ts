/** Holds refusals to the list of errors. */
import type { z } from "zod";
import { ERRORS } from "../../reference/shapes/errors.ts";

interface ErrorBody {
  code: string;
  details: string | null;
}

export function shapeProblems(shape: z.ZodType, value: unknown): string[] {
  const { error } = shape.safeParse(value);
  return (error?.issues ?? []).map(({ path, message }) => `${path.join(".")}: ${message}`);
}

/** What a refusal has that is not in the list; `isOwn` says which of the list's codes may be its. */
export function errorProblems(
  status: number,
  body: string,
  isOwn: (code: string) => boolean,
): string[] {
  const { code, details } = JSON.parse(body) as ErrorBody;
  const entry = ERRORS.find((error) => error.code === code && error.statuses.includes(status));
  if (!entry) return [`no error of this code and status in the list: ${body}`];
  if (!isOwn(code)) return [`not among its errors: ${code}`];
  if (!entry.details || details === null) return [];
  return shapeProblems(entry.details, JSON.parse(details)).map((problem) => `details.${problem}`);
}
