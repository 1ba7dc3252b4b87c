/** What a person can be shown, in English. Of constraints the generated lists know more. */

export const SENTENCES: Readonly<Record<string, string>> = {
  network: "There is no connection. Please try again.",
  slot_taken: "This time has just been taken.",
};

interface Refusal {
  status: number;
  code: string;
  columns: readonly string[];
  retryAfter: number | undefined;
}

const label = (column: string) => column.replace(/_/g, " ");
const capital = (words: string) => words.charAt(0).toUpperCase() + words.slice(1);

export function sentenceOf({ status, code, columns }: Refusal): string {
  const [column] = columns;
  if (column !== undefined) {
    if (code === "23502") return `${capital(label(column))} is required.`;
    if (code === "42501")
      return `${capital(columns.map(label).join(", "))} cannot be written here.`;
    return `Please check: ${columns.map(label).join(", ")}.`;
  }
  return SENTENCES[code] ?? SENTENCES[String(status)] ?? "Something went wrong. Please try again.";
}
