/** What a tab remembers over a reload and the way to the payment page and back. Other tabs have their own. */
import { useState } from "preact/hooks";

export function readStored<Value>(name: string): Value | null {
  return JSON.parse(sessionStorage.getItem(name) ?? "null");
}

export function useStored<Value>(name: string, initial: Value) {
  const [value, setValue] = useState<Value>(() => readStored<Value>(name) ?? initial);
  const store = (next: Value) => {
    writeStored(name, next);
    setValue(next);
  };
  return [value, store] as const;
}

export const writeStored = (name: string, value: unknown) =>
  sessionStorage.setItem(name, JSON.stringify(value));
