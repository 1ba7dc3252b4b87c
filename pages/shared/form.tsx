/** What is filled in and sent; what went wrong with it is said in front of its button. */
import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import type { Action } from "./asking.ts";
import { Failure } from "./errors.tsx";
import { Button } from "./ui.tsx";

/** Values by name, and what a `Field` takes for each. */
export function useFields<Names extends string>(
  labels: Record<NoInfer<Names>, string>,
  initial: Record<Names, string>,
) {
  const [values, setValues] = useState(initial);
  const field = (name: Names) => {
    const onValue = (value: string) => setValues((last) => ({ ...last, [name]: value }));
    return { name, label: labels[name], value: values[name], onValue };
  };
  return { values, field };
}

interface FormProps {
  action: Pick<Action<[]>, "run" | "busy" | "error">;
  /** Of the button that sends it, and what stands beside that. */
  label: string;
  kind?: "primary" | "danger";
  beside?: ComponentChildren;
  /** Not yet to be sent. */
  waits?: boolean;
  /** What is offered where it failed. */
  instead?: ComponentChildren;
  /** The API alone says what is wrong. */
  noValidate?: boolean;
  children?: ComponentChildren;
}

export function Form({ action, label, kind = "primary", ...props }: FormProps) {
  const onSubmit = (event: Event) => {
    event.preventDefault();
    void action.run();
  };
  return (
    <form class="stack" noValidate={props.noValidate} onSubmit={onSubmit}>
      {props.children}
      <Failure error={action.error}>{props.instead}</Failure>
      <div class="actions">
        <Button {...{ kind, type: "submit", busy: action.busy || props.waits }}>{label}</Button>
        {props.beside}
      </div>
    </form>
  );
}
