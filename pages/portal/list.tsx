/** A list that the API answers with. */
import type { ComponentChildren } from "preact";
import { useLoaded } from "../shared/asking.ts";
import { Failure } from "../shared/errors.tsx";
import { Loading } from "../shared/ui.tsx";

interface ListProps<Row> {
  load: () => Promise<Row[]>;
  /** What is said of an empty one. */
  none: string;
  card: (row: Row) => ComponentChildren;
}

export function List<Row extends { id: string }>({ load, none, card }: ListProps<Row>) {
  const { value: rows, error, again } = useLoaded(load, []);
  if (error) return <Failure error={error} again={again} />;
  if (!rows) return <Loading />;
  if (rows.length === 0) return <p>{none}</p>;
  return (
    <ul class="list">
      {rows.map((row) => (
        <li key={row.id} class="card stack">
          {card(row)}
        </li>
      ))}
    </ul>
  );
}
