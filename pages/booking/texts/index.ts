import { textsOf } from "../../shared/texts/index.ts";
import { en } from "./en.ts";
import { it } from "./it.ts";

export const texts = textsOf({ en, it });
