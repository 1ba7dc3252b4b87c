import type { Changes } from "../shared/route.ts";

const STEPS = ["service", "day", "start", "product", "variant", "quantity", "booking", "order"];

/** The query of a page without a step. */
export const START: Changes = Object.fromEntries([...STEPS, "payment"].map((name) => [name, null]));
