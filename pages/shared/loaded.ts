/** What a step has to ask for before it can be shown. */
import { useEffect, useRef, useState } from "preact/hooks";

interface State<Value> {
  key: string;
  value?: Value;
  /** When the value came. */
  at?: Date;
  /** Of the last time it was asked; the value is the one before. */
  error?: unknown;
}

export interface Loaded<Value> extends Omit<State<Value>, "key"> {
  /** Asks again, and shows the old value meanwhile. */
  again: () => Promise<void>;
}

/**
 * Asks anew whenever `of` changes; an answer to something else than is asked for now is not shown. What is watched is
 * at most a minute old while somebody looks at it.
 */
export function useLoaded<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
  of: readonly unknown[],
  { watched = false } = {},
): Loaded<Value> {
  const key = JSON.stringify(of);
  const [state, setState] = useState<State<Value>>({ key });
  const underWay = useRef(new AbortController());
  const again = async () => {
    underWay.current.abort();
    underWay.current = new AbortController();
    const { signal } = underWay.current;
    const show = (next: (last: State<Value>) => State<Value>) => signal.aborted || setState(next);
    await load(signal).then(
      (value) => show(() => ({ key, value, at: new Date() })),
      (error) => show((last) => ({ ...(last.key === key && last), key, error })),
    );
  };
  const latest = useRef(again);
  latest.current = again;
  useEffect(() => {
    void latest.current();
    return () => underWay.current.abort();
  }, [key]);
  useEffect(() => {
    if (!watched) return;
    const look = () => document.visibilityState === "visible" && void latest.current();
    const timer = setInterval(look, 60_000);
    document.addEventListener("visibilitychange", look);
    addEventListener("online", look);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", look);
      removeEventListener("online", look);
    };
  }, [watched]);
  const { key: _, ...shown } = state.key === key ? state : ({ key } as State<Value>);
  return { ...shown, again: () => latest.current() };
}
