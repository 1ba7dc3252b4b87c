/** What is filled in and sent; what went wrong with it is said in front of its button. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Action } from "../shared/action.ts";
import { Failure } from "../shared/errors.tsx";
import { Button } from "../shared/ui.tsx";

/** Values by name, and what a `Field` takes for each. */
export function useFields<Names extends string>(
  labels: Record<NoInfer<Names>, string>,
  initial: Record<Names, string>,
) {
  const [values, setValues] = useState(initial);
  const onValue = (name: Names) => (value: string) =>
    setValues((last) => ({ ...last, [name]: value }));
  const field = (name: Names) => ({
    ...{ name, label: labels[name], value: values[name], onValue: onValue(name) },
  });
  return { values, field };
}

export interface FormProps {
  action: Pick<Action<[]>, "run" | "busy" | "error">;
  /** Of the button that sends it. */
  label: string;
  kind?: "primary" | "danger";
  /** A button beside that one. */
  beside?: ComponentChildren;
  children: ComponentChildren;
}

export function Form({ action, label, kind = "primary", beside, children }: FormProps) {
  const onSubmit = (event: Event) => {
    event.preventDefault();
    void action.run();
  };
  return (
    <form class="stack" onSubmit={onSubmit}>
      {children}
      <Failure error={action.error} />
      <div class="actions">
        <Button {...{ kind, type: "submit", busy: action.busy }}>{label}</Button>
        {beside}
      </div>
    </form>
  );
}
