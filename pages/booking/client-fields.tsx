/** Who books or orders. */
import type { PublicProfessional } from "../../client/src/database.ts";
import { fieldErrors } from "../shared/errors.tsx";
import { readStored, useStored, writeStored } from "../shared/store.ts";
import { Field } from "../shared/ui.tsx";
import { texts } from "./texts/index.ts";

const NO_DETAILS = { client_name: "", client_email: "", client_phone: "", notes: "" };

/** What was written to one professional is nothing for another. */
const placeOf = ({ id }: PublicProfessional) => `details:${id}`;

/** As they were typed, for the next booking too. */
export const detailsFor = (professional: PublicProfessional): typeof NO_DETAILS =>
  readStored(placeOf(professional)) ?? NO_DETAILS;

/** Notes are about one booking: the next begins without, the same one again with its own. */
export const keepNotes = (professional: PublicProfessional, notes: string): void =>
  writeStored(placeOf(professional), { ...detailsFor(professional), notes });

type ClientFieldsProps = { professional: PublicProfessional; error: unknown };

export function ClientFields({ professional, error }: ClientFieldsProps) {
  const [details, setDetails] = useStored(placeOf(professional), NO_DETAILS);
  const errors = fieldErrors(error);
  const of = (name: keyof typeof NO_DETAILS, label: string) => ({
    ...{ name, label, value: details[name], error: errors[name] },
    onValue: (value: string) => setDetails({ ...details, [name]: value }),
  });
  const email = { ...of("client_email", texts.email), hint: texts.emailHint };
  const notes = { ...of("notes", texts.notes), hint: texts.notesHint(professional.full_name) };
  return (
    <>
      <Field {...of("client_name", texts.name)} autocomplete="name" required />
      <Field {...email} type="email" autocomplete="email" required />
      <Field {...of("client_phone", texts.phone)} type="tel" autocomplete="tel" optional />
      <Field {...notes} lines={3} optional />
    </>
  );
}
