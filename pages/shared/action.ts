/** Something that a click begins and that takes a while. */
import { useRef, useState } from "preact/hooks";

export interface Action<Arguments extends unknown[]> {
  /** Does nothing while it is under way, so that a double click is one. */
  run: (...args: Arguments) => Promise<void>;
  busy: boolean;
  /** What it last failed with; gone with the next try. */
  error: unknown;
  forget: () => void;
}

export function useAction<Arguments extends unknown[]>(
  act: (...args: Arguments) => Promise<unknown>,
): Action<Arguments> {
  const underWay = useRef(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  return {
    busy,
    error,
    forget: () => setError(undefined),
    async run(...args) {
      if (underWay.current) return;
      underWay.current = true;
      setBusy(true);
      setError(undefined);
      try {
        await act(...args);
      } catch (failure) {
        setError(failure);
      } finally {
        underWay.current = false;
        setBusy(false);
      }
    },
  };
}
