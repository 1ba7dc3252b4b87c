/** What a shape of reference/ is made of, to compare it with the catalogue. */
import { z } from "zod";

/** Without null and what may be left out. */
export function bare(shape: z.ZodType): z.ZodType {
  return shape instanceof z.ZodNullable || shape instanceof z.ZodOptional
    ? bare(shape.unwrap() as z.ZodType)
    : shape;
}

/** The forms that an answer has. */
export function formsOf(shape: z.ZodType): z.ZodType[] {
  const inner = bare(shape);
  return inner instanceof z.ZodUnion
    ? (inner.options as z.ZodType[]).flatMap((option) => formsOf(option))
    : [inner];
}

export function fieldsOf(shape: z.ZodType): Record<string, z.ZodType> {
  const inner = bare(shape);
  if (!(inner instanceof z.ZodObject)) throw new Error(`no object but ${inner.def.type}`);
  return inner.shape as Record<string, z.ZodType>;
}

export function takesNull(shape: z.ZodType): boolean {
  return shape.safeParse(null).success;
}

/** The values of a list of them; undefined for anything else. */
export function valuesOf(shape: z.ZodType): string[] | undefined {
  const inner = bare(shape);
  return inner instanceof z.ZodEnum ? (inner.options as string[]) : undefined;
}
