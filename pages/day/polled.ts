/** What is on the page is at most a minute old while somebody looks at it. */
import { useEffect, useRef, useState } from "preact/hooks";

interface State<Value> {
  key: string;
  value?: Value;
  /** When the value came. */
  at?: Date;
  /** Of the last time it was asked; the value is the one before. */
  error?: unknown;
}

export function usePolled<Value>(key: string, load: (signal: AbortSignal) => Promise<Value>) {
  const [state, setState] = useState<State<Value>>({ key });
  const underWay = useRef(new AbortController());
  const reload = async () => {
    underWay.current.abort();
    underWay.current = new AbortController();
    const { signal } = underWay.current;
    const show = (next: (last: State<Value>) => State<Value>) => signal.aborted || setState(next);
    await load(signal).then(
      (value) => show(() => ({ key, value, at: new Date() })),
      (error) => show((last) => ({ ...(last.key === key && last), key, error })),
    );
  };
  const latest = useRef(reload);
  latest.current = reload;
  useEffect(() => {
    const again = () => document.visibilityState === "visible" && void latest.current();
    void latest.current();
    const timer = setInterval(again, 60_000);
    document.addEventListener("visibilitychange", again);
    addEventListener("online", again);
    return () => {
      clearInterval(timer);
      document.removeEventListener("visibilitychange", again);
      removeEventListener("online", again);
      underWay.current.abort();
    };
  }, [key]);
  return { ...(state.key === key ? state : ({ key } as State<Value>)), reload: latest.current };
}
