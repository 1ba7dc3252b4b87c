/** The client's own name and phone. */
import { useState } from "preact/hooks";
import { useAction } from "../shared/action.ts";
import { Failure, fieldErrors } from "../shared/errors.tsx";
import { Form } from "../shared/form.tsx";
import { useLoaded } from "../shared/loaded.ts";
import { Field, Heading, Loading, Notice } from "../shared/ui.tsx";
import type { Portal, Session } from "./session.ts";
import { texts } from "./texts/index.ts";

type MeProps = Portal & { onSession: (session: Session) => void };

export function Me({ api, session, onSession }: MeProps) {
  const { id } = session.client;
  const own = useLoaded(
    () => api.run(api.from("clients").select("name, email, phone").eq("id", id).single()),
    [id],
  );
  const [typed, setTyped] = useState<{ name?: string; phone?: string }>({});
  const [saved, setSaved] = useState<typeof typed>();
  const { name = "", phone, email } = { ...own.value, ...typed };
  const save = useAction(async () => {
    await api.run(
      api
        .from("clients")
        .update({ name, phone: phone?.trim() || null })
        .eq("id", id),
    );
    setSaved(typed);
    onSession({ ...session, client: { ...session.client, name: name.trim() } } as Session);
  });
  if (!own.value) return own.error ? <Failure error={own.error} again={own.again} /> : <Loading />;
  const field = (of: "name" | "phone") => ({
    ...{ name: of, label: texts.me[of], error: fieldErrors(save.error)[of] },
    onValue: (text: string) => setTyped({ ...typed, [of]: text }),
  });
  return (
    <section class="card stack">
      <Heading level={2}>{texts.nav.me}</Heading>
      <Form noValidate action={save} label={texts.me.save}>
        <Field {...field("name")} autocomplete="name" value={name} required />
        <Field {...field("phone")} type="tel" autocomplete="tel" value={phone ?? ""} optional />
        <p class="faint">{texts.me.emailNote(session.professional.full_name, email ?? "")}</p>
        {saved === typed && <Notice kind="good">{texts.me.saved}</Notice>}
      </Form>
    </section>
  );
}
