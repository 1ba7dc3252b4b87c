/** What a step has to ask for before it can be shown. */
import { useEffect, useState } from "preact/hooks";

export interface Loaded<Value> {
  value: Value | undefined;
  error: unknown;
  /** Asks again, and shows the old value meanwhile. */
  again: () => void;
}

/** Asks anew whenever `of` changes; an answer to something else than is asked for now is not shown. */
export function useLoaded<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
  of: readonly unknown[],
): Loaded<Value> {
  const key = JSON.stringify(of);
  const [turn, setTurn] = useState(0);
  const [state, setState] = useState<{ key: string; value?: Value; error?: unknown }>({ key });
  useEffect(() => {
    const abort = new AbortController();
    load(abort.signal).then(
      (value) => !abort.signal.aborted && setState({ key, value }),
      (error) =>
        !abort.signal.aborted &&
        setState((last) => ({ ...(last.key === key && last), key, error })),
    );
    return () => abort.abort();
  }, [turn, key]);
  const { value, error } = state.key === key ? state : { value: undefined, error: undefined };
  return { value, error, again: () => setTurn(turn + 1) };
}
