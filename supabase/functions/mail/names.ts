/** Who a mail speaks of, and how: a name for headers, another one for its body. */
import type { Professional } from "./facts.ts";
import { headerName, isolated, nameOnly } from "./words.ts";

export interface Person {
  /** Empty where there is none. */
  name: string;
  email: string;
}

export interface Named {
  /** Short and without syntax, for headers and calendar entries. */
  header: string;
  body: string;
}

/** The service's name, as `MAIL_FROM` has it; else the domain that mails come from. */
export function serviceName({ name, email }: Person): string {
  return headerName(name) || email.slice(email.lastIndexOf("@") + 1);
}

export function professionalName(professional: Professional, sender: Person): Named {
  const other = professional.username || serviceName(sender);
  return {
    header: headerName(professional.full_name) || other,
    body: isolated(nameOnly(professional.full_name)) || other,
  };
}

export function clientName(name: string): Named {
  return { header: headerName(name) || "?", body: isolated(nameOnly(name)) || "?" };
}
