/** What a tab remembers over a reload and the way to the payment page and back. Other tabs have their own. */
import { useState } from "preact/hooks";

type Store = Pick<Storage, "getItem" | "setItem" | "removeItem">;

/** A browser that keeps nothing for sites throws at the mere name: then it is kept as long as the page. */
export function usable(storage: () => Store): Store {
  try {
    return storage();
  } catch {
    const values = new Map<string, string>();
    return {
      getItem: (name) => values.get(name) ?? null,
      setItem: (name, value) => void values.set(name, value),
      removeItem: (name) => void values.delete(name),
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
