/** The client's own name and phone. */
import { useState } from "preact/hooks";
import { useAction } from "../shared/action.ts";
import { Failure, fieldErrors } from "../shared/errors.tsx";
import { Form } from "../shared/form.tsx";
import { useLoaded } from "../shared/loaded.ts";
import { Field, Heading, Loading, Notice } from "../shared/ui.tsx";
import type { Portal } from "./session.ts";
import { texts } from "./texts/index.ts";

type MeProps = Portal & { onName: (name: string) => void };

export function Me({ api, session, onName }: MeProps) {
  const { id } = session.client;
  const stored = useLoaded(
    () => api.run(api.from("clients").select("name, email, phone").eq("id", id).single()),
    [id],
  );
  const [typed, setTyped] = useState<{ name?: string; phone?: string }>({});
  const { name = "", phone, email } = { ...stored.value, ...typed };
  const [saved, setSaved] = useState("");
  const save = useAction(async () => {
    const values = { name, phone: phone?.trim() || null };
    await api.run(api.from("clients").update(values).eq("id", id));
    setSaved(JSON.stringify(typed));
    onName(name.trim());
  });
  const wrong = fieldErrors(save.error);
  return (
    <section class="card stack">
      <Heading level={2}>{texts.nav.me}</Heading>
      <Failure error={stored.error} again={stored.again} />
      {stored.value === undefined && !stored.error && <Loading />}
      {stored.value && (
        <Form noValidate action={save} label={texts.me.save}>
          <Field
            name="name"
            autocomplete="name"
            label={texts.me.name}
            value={name}
            onValue={(text) => setTyped({ ...typed, name: text })}
            error={wrong.name}
            required
          />
          <Field
            name="phone"
            type="tel"
            autocomplete="tel"
            label={texts.me.phone}
            value={phone ?? ""}
            onValue={(text) => setTyped({ ...typed, phone: text })}
            error={wrong.phone}
            optional
          />
          <p class="faint">{texts.me.emailNote(session.professional.full_name, email ?? "")}</p>
          {saved === JSON.stringify(typed) && <Notice kind="good">{texts.me.saved}</Notice>}
        </Form>
      )}
    </section>
  );
}
