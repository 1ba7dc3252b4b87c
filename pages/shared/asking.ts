/** What a page asks the API: what it shows, and what a click begins. */
import { useEffect, useRef, useState } from "preact/hooks";

interface State<Value> {
  key: string;
  value?: Value;
  /** When the value came. */
  at?: string;
  /** Of the last time it was asked; the value is the one before. */
  error?: unknown;
}

export type Loaded<Value> = ReturnType<typeof useLoaded<Value>>;

/**
 * Asks anew whenever `of` changes; an answer to something else than is asked for now is not shown. While somebody
 * looks at it, it is at most `every` milliseconds old; 0 does not look again.
 */
export function useLoaded<Value>(
  load: (signal: AbortSignal) => Promise<Value>,
  of: readonly unknown[],
  { every = 0 } = {},
) {
  const key = JSON.stringify(of);
  const [state, setState] = useState<State<Value>>({ key });
  const underWay = useRef(new AbortController());
  /** Asks again, and shows the old value meanwhile. */
  const again = async () => {
    underWay.current.abort();
    underWay.current = new AbortController();
    const { signal } = underWay.current;
    const show = (next: (last: State<Value>) => State<Value>) => signal.aborted || setState(next);
    await load(signal).then(
      (value) => show(() => ({ key, value, at: new Date().toISOString() })),
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
    if (every === 0) return;
    const left = new AbortController();
    const look = () => document.visibilityState === "visible" && void latest.current();
    const timer = setInterval(look, every);
    left.signal.addEventListener("abort", () => clearInterval(timer));
    document.addEventListener("visibilitychange", look, left);
    addEventListener("online", look, left);
    return () => left.abort();
  }, [every]);
  const { value, at, error }: State<Value> = state.key === key ? state : { key };
  return { value, at, error, again: () => latest.current() };
}

export type Action<Arguments extends unknown[]> = ReturnType<typeof useAction<Arguments>>;

export function useAction<Arguments extends unknown[]>(
  act: (...args: Arguments) => Promise<unknown>,
) {
  /** The error is what it last failed with; it is gone with the next try. */
  const [state, setState] = useState<{ busy: boolean; error?: unknown }>({ busy: false });
  return {
    ...state,
    forget: () => setState(({ busy }) => ({ busy })),
    /** A button that is busy does nothing, so that a double click is one. */
    async run(...args: Arguments) {
      setState({ busy: true });
      const end = (error?: unknown) => setState({ busy: false, error });
      await act(...args).then(() => end(), end);
    },
  };
}
