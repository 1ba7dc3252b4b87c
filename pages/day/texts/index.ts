import { shared, textsOf } from "../../shared/texts/index.ts";
import { en } from "./en.ts";
import { it } from "./it.ts";

export const texts = textsOf({ en, it });

// A professional hears of some errors in other words than a client.
Object.assign(shared.errors.codes, texts.errors);
