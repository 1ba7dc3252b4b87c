/** A list that comes in pages; whoever asks for more is led to the first of them. */
import type { ComponentChildren } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { useAction } from "../shared/action.ts";
import { Failure } from "../shared/errors.tsx";
import { Button, Loading } from "../shared/ui.tsx";
import { texts } from "./texts/index.ts";

const SIZE = 10;

interface ListProps<Row> {
  /** Both included, from 0. */
  load: (first: number, last: number) => PromiseLike<Row[]>;
  /** What is said of an empty one. */
  none: string;
  card: (row: Row) => ComponentChildren;
}

export function List<Row extends { id: string }>({ load, none, card }: ListProps<Row>) {
  const [rows, setRows] = useState<Row[]>([]);
  const [rest, setRest] = useState<"unknown" | "more" | "none">("unknown");
  const firstNew = useRef<HTMLLIElement>(null);
  const [shown, setShown] = useState(0);
  const next = useAction(async () => {
    // One more than is shown says whether there are more.
    const got = await load(rows.length, rows.length + SIZE);
    setRest(got.length > SIZE ? "more" : "none");
    setShown(rows.length);
    setRows([...rows, ...got.slice(0, SIZE)]);
  });
  useEffect(() => void next.run(), []);
  useEffect(() => void (shown > 0 && firstNew.current?.focus()), [shown]);
  return (
    <>
      {rest === "none" && rows.length === 0 && <p>{none}</p>}
      <ul class="list">
        {rows.map((row, index) => (
          <li key={row.id} class="card stack" tabIndex={-1} ref={index === shown ? firstNew : null}>
            {card(row)}
          </li>
        ))}
      </ul>
      {rest === "unknown" && next.busy && <Loading />}
      <Failure error={next.error} again={next.run} />
      {rest === "more" && !next.error && (
        <div class="actions">
          <Button busy={next.busy} onClick={next.run}>
            {texts.more}
          </Button>
        </div>
      )}
    </>
  );
}
