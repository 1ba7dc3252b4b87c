/** What a tab remembers over a reload and the way to the payment page and back. Other tabs have their own. */
import { useState } from "preact/hooks";

type Store = Pick<Storage, "getItem" | "setItem" | "removeItem" | "clear">;

/** One that is denied throws at the mere name, one that is full when it is written to: then the page keeps it. */
export function usable(storage: () => Store): Store {
  try {
    storage().setItem("room", "-".repeat(10_000));
    storage().removeItem("room");
    return storage();
  } catch {
    const values = new Map<string, string>();
    return {
      getItem: (name) => values.get(name) ?? null,
      setItem: (name, value) => void values.set(name, value),
      removeItem: (name) => void values.delete(name),
      clear: () => values.clear(),
    };
  }
}

export const tab = usable(() => sessionStorage);

/** Null also for what nothing of ours has written. */
export function readStored<Value>(name: string): Value | null {
  try {
    return JSON.parse(tab.getItem(name) ?? "null");
  } catch {
    return null;
  }
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
  tab.setItem(name, JSON.stringify(value));
