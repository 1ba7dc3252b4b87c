/** The client's own name and phone. */
import { useState } from "preact/hooks";
import { useAction } from "../shared/action.ts";
import { Failure, fieldErrors } from "../shared/errors.tsx";
import { useLoaded } from "../shared/loaded.ts";
import { Button, Field, Heading, Loading, Notice } from "../shared/ui.tsx";
import type { Portal } from "./session.ts";
import { texts as all } from "./texts/index.ts";

const texts = all.me;

interface MeProps extends Pick<Portal, "api" | "session"> {
  onName: (name: string) => void;
}

export function Me({ api, session, onName }: MeProps) {
  const { id } = session.client;
  const stored = useLoaded(
    () => api.run(api.from("clients").select("name, email, phone").eq("id", id).single()),
    [id],
  );
  const [typed, setTyped] = useState<{ name?: string; phone?: string }>({});
  const [isSaved, setIsSaved] = useState(false);
  const { name, phone, email } = { ...stored.value, ...typed };
  const save = useAction(async () => {
    const values = { name: name ?? "", phone: phone?.trim() || null };
    const kept = await api.run(
      api.from("clients").update(values).eq("id", id).select("name").single(),
    );
    setIsSaved(true);
    setTyped({ ...typed, name: kept.name });
    onName(kept.name);
  });
  const wrong = fieldErrors(save.error);
  const change = (values: typeof typed) => {
    setIsSaved(false);
    setTyped({ ...typed, ...values });
  };
  return (
    <form
      class="card stack"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        void save.run();
      }}
    >
      <Heading level={2}>{texts.heading}</Heading>
      <Failure error={stored.error} again={stored.again} />
      {stored.value === undefined && !stored.error && <Loading />}
      {stored.value && (
        <>
          <Field
            name="name"
            autocomplete="name"
            label={texts.name}
            value={name ?? ""}
            onValue={(name) => change({ name })}
            error={wrong.name && texts.nameWrong}
            required
          />
          <Field
            name="phone"
            type="tel"
            autocomplete="tel"
            label={texts.phone}
            value={phone ?? ""}
            onValue={(phone) => change({ phone })}
            error={wrong.phone && texts.phoneWrong}
            optional
          />
          <p class="faint">{texts.emailNote(session.professional.full_name, email ?? "")}</p>
          {!wrong.name && !wrong.phone && <Failure error={save.error} />}
          {isSaved && <Notice kind="good">{texts.saved}</Notice>}
          <div class="actions">
            <Button type="submit" kind="primary" busy={save.busy}>
              {texts.save}
            </Button>
          </div>
        </>
      )}
    </form>
  );
}
