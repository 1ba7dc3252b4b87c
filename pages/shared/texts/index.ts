import { en } from "./en.ts";
import { it } from "./it.ts";
import { textsOf } from "./language.ts";

export { LANGUAGES, type Language, language, locale, textsOf } from "./language.ts";

export const shared = textsOf({ en, it });
