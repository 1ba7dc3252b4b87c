/** Who books or orders. */
import { Field } from "../shared/ui.tsx";
import type { Details } from "./api.ts";
import { texts } from "./texts/index.ts";

interface ClientFieldsProps {
  name: string;
  details: Details;
  onDetails: (details: Details) => void;
  errors: Record<string, string>;
}

export function ClientFields({ name, details, onDetails, errors }: ClientFieldsProps) {
  const of = (field: keyof Details) => ({
    name: field,
    value: details[field],
    onValue: (value: string) => onDetails({ ...details, [field]: value }),
    error: errors[field],
  });
  return (
    <>
      <Field {...of("client_name")} label={texts.name} autocomplete="name" required />
      <Field
        {...of("client_email")}
        label={texts.email}
        type="email"
        autocomplete="email"
        hint={texts.emailHint}
        required
      />
      <Field {...of("client_phone")} label={texts.phone} type="tel" autocomplete="tel" optional />
      <Field {...of("notes")} label={texts.notes} lines={3} hint={texts.notesHint(name)} optional />
    </>
  );
}
