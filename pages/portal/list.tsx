/** A list that comes in pages. */
import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { useAction } from "../shared/action.ts";
import { Failure } from "../shared/errors.tsx";
import { Button, Loading } from "../shared/ui.tsx";
import { texts } from "./texts/index.ts";

const SIZE = 10;

interface ListProps<Row> {
  /** Both included, from 0. */
  load: (first: number, last: number) => Promise<Row[]>;
  /** What is said of an empty one. */
  none: string;
  card: (row: Row) => ComponentChildren;
}

/** Whoever asks for more is led to the first of them. */
const focus = (element: HTMLElement | null) => element?.focus();

export function List<Row extends { id: string }>({ load, none, card }: ListProps<Row>) {
  // One more than is shown says whether there are more.
  const [rows, setRows] = useState<Row[]>();
  const [shown, setShown] = useState(0);
  const next = useAction(async () => {
    const more = await load(shown, shown + SIZE);
    setRows([...(rows ?? []).slice(0, shown), ...more]);
    setShown(shown + SIZE);
  });
  useEffect(() => void next.run(), []);
  return (
    <>
      {rows?.length === 0 && <p>{none}</p>}
      <ul class="list">
        {rows?.slice(0, shown).map((row, at) => (
          <li key={row.id} class="card stack" tabIndex={-1} ref={at % SIZE || !at ? null : focus}>
            {card(row)}
          </li>
        ))}
      </ul>
      {!rows && next.busy && <Loading />}
      <Failure error={next.error} again={next.run} />
      {rows && rows.length > shown && !next.error && (
        <Button busy={next.busy} onClick={next.run}>
          {texts.more}
        </Button>
      )}
    </>
  );
}
