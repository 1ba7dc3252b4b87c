/**
 * Lines of iCalendar (RFC 5545, 3.1). The generator that writes the entries of mails folds a character at a
 * time, with an encoder for each: thousands of bookings would take longer than the platform lets a call work.
 */

/** Most octets of a line, the end of it not counted. */
const OCTETS = 75;

/** A value of the type TEXT (3.3.11). */
export function text(value: string): string {
  return value.replace(/[\\;,]/g, "\\$&").replace(/\n/g, "\\n");
}

/** `2027-03-01T09:00:00.000Z` in the form of 3.3.5. */
export function instant(iso: string): string {
  return `${iso.slice(0, 19).replace(/[-:]/g, "")}Z`;
}

/** All lines, folded, each with its end. */
export function contentLines(lines: string[]): string {
  return lines.map((line) => `${fold(line)}\r\n`).join("");
}

function fold(line: string): string {
  // Of a code unit come at most three octets.
  if (line.length * 3 <= OCTETS) return line;
  let folded = "";
  let from = 0;
  let octets = 0;
  for (let at = 0; at < line.length; ) {
    const code = line.codePointAt(at) as number;
    const size = code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    if (octets + size > OCTETS) {
      folded += `${line.slice(from, at)}\r\n `;
      from = at;
      // The space that begins the next line counts.
      octets = 1;
    }
    octets += size;
    at += code < 0x10000 ? 1 : 2;
  }
  return folded + line.slice(from);
}
