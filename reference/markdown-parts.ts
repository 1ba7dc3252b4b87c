/** Pieces of a page. */
export interface Section {
  title: string;
  /** Paragraphs and tables; empty ones are left out. */
  body: string[];
}

export const code = (text: string) => `\`${text}\``;

/** As GitHub names a heading. */
export const anchor = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, "")
    .replace(/\s/g, "-");

/** `a, b and c`. */
export const list = (words: string[]) =>
  words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;

const cell = (text: string) => text.replace(/\s+/g, " ").trim().replaceAll("|", "\\|");

export function table(head: string[], rows: string[][]): string {
  if (rows.length === 0) return "";
  const line = (cells: string[]) => `| ${cells.map(cell).join(" | ")} |`;
  return [line(head), line(head.map(() => "---")), ...rows.map(line)].join("\n");
}

/** Chapters, each with its sections in a line. */
export const contents = (chapters: (Section & { sections?: Section[] })[]) =>
  chapters
    .map(({ title, sections = [] }) => {
      const links = sections.map(
        (section) =>
          `[${section.title.replace(/^(Table|RPC|Event|Type) /, "")}](#${anchor(section.title)})`,
      );
      const more = links.length > 0 ? `: ${links.join(" · ")}` : "";
      return `* [${title}](#${anchor(title)})${more}`;
    })
    .join("\n");
