/**
 * One line of plain text: a name must neither end the header it stands in nor turn it around, and a
 * half of a surrogate pair would become something else on the way.
 */
export function oneLine(text: string): string {
  return text
    .replace(/[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]+/gu, " ")
    .replace(/\p{Cs}/gu, "\uFFFD")
    .trim();
}
