/** The language of a page: what its address says, what was chosen before, or what the browser asks for. */

import { usable } from "../store.ts";

export const LANGUAGES = { en: "English", it: "Italiano" } as const;

export type Language = keyof typeof LANGUAGES;

const SAVED = "language";

const known = (tag: string | null | undefined): Language | undefined =>
  (Object.keys(LANGUAGES) as Language[]).find((name) => tag?.toLowerCase().split("-")[0] === name);

function choose(): Language {
  const asked = known(new URLSearchParams(location.search).get("lang"));
  const storage = usable(() => localStorage);
  if (asked) storage.setItem(SAVED, asked);
  const wanted = [storage.getItem(SAVED), ...navigator.languages].map(known);
  return asked ?? wanted.find((name) => name !== undefined) ?? "en";
}

/** Fixed for the life of the page: another one is another address (`?lang=it`). */
export const language: Language = choose();

/** For `Intl`: how the visitor's own region writes the language, where the browser says so. */
export const locale: string =
  navigator.languages.find((tag) => tag.includes("-") && known(tag) === language) ??
  { en: "en-GB", it: "it-IT" }[language];

document.documentElement.lang = language;
document.documentElement.dir = "ltr";

/** The texts of one language; the type of the English ones holds the others to the same keys. */
export const textsOf = <Texts>(all: Record<Language, Texts>): Texts => all[language];
