/** Who books or orders. */
import { fieldErrors } from "../shared/errors.tsx";
import { Field } from "../shared/ui.tsx";
import type { Details } from "./api.ts";
import { texts } from "./texts/index.ts";

interface ClientFieldsProps {
  /** Of the professional. */
  name: string;
  details: Details;
  onDetails: (details: Details) => void;
  error: unknown;
}

export function ClientFields({ name, details, onDetails, error }: ClientFieldsProps) {
  const errors = fieldErrors(error);
  const of = (field: keyof Details, label: string) => ({
    ...{ name: field, label, value: details[field], error: errors[field] },
    onValue: (value: string) => onDetails({ ...details, [field]: value }),
  });
  const email = { ...of("client_email", texts.email), hint: texts.emailHint };
  return (
    <>
      <Field {...of("client_name", texts.name)} autocomplete="name" required />
      <Field {...email} type="email" autocomplete="email" required />
      <Field {...of("client_phone", texts.phone)} type="tel" autocomplete="tel" optional />
      <Field {...of("notes", texts.notes)} lines={3} hint={texts.notesHint(name)} optional />
    </>
  );
}
