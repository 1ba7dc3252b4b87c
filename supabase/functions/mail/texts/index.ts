/** The languages of mails, by the names that `private.languages()` takes. */
import { en } from "./en.ts";
import { it } from "./it.ts";
import type { Texts } from "./texts.ts";

export const TEXTS = { en, it } satisfies Record<string, Texts>;

export type Language = keyof typeof TEXTS;

export const LANGUAGES = Object.keys(TEXTS) as [Language, ...Language[]];
