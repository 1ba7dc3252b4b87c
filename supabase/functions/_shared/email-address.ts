/**
 * The one grammar of e-mail addresses. `private.is_email` and `private.trim_invisible` are the same in
 * SQL, and a test holds the two against each other: an address that one side takes and the other does
 * not, or that the two compare differently, would be somebody else's.
 *
 * ASCII only: Unicode has letters whose lower case is an ASCII one, so that two domains would share a
 * key. An international domain is written in its `xn--` form.
 */

/** RFC 5322, dot-atom: none of these means anything in a header or a list. */
const ATOM = "[A-Za-z0-9!#$%&'*+/=?^_`{|}~-]+";
/** RFC 1123, a label; the last one begins with a letter, or it would be a number of an IP address. */
const LABEL = "[A-Za-z0-9]([A-Za-z0-9-]*[A-Za-z0-9])?";
const LAST_LABEL = "[A-Za-z]([A-Za-z0-9-]*[A-Za-z0-9])?";
const FORM = new RegExp(`^${ATOM}(\\.${ATOM})*@(${LABEL}\\.)+${LAST_LABEL}$`);

/** Whether a text is one plain address, at most 254 characters, 64 before the @ and 63 a label. */
export function isEmail(text: string): boolean {
  if (text.length > 254 || !FORM.test(text)) return false;
  const [local, domain] = text.split("@") as [string, string];
  return local.length <= 64 && domain.split(".").every((label) => label.length <= 63);
}

const INVISIBLE =
  "\\t-\\r \\x85\\xA0\\xAD\\u061C\\u1680\\u180E\\u2000-\\u200F\\u2028-\\u202F" +
  "\\u205F-\\u206F\\u2800\\u3000\\u3164\\uFEFF\\uFFA0";
const AROUND = new RegExp(`^[${INVISIBLE}]+|[${INVISIBLE}]+$`, "g");

/** Takes away the space that people paste around an address, also what of it cannot be seen. */
export function trimInvisible(text: string): string {
  return text.replace(AROUND, "");
}
