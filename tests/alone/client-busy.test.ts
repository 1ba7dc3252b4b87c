/** A client that waits out `busy`. Alone, because a lock is kept while others wait for it. */
import { expect, test } from "vitest";
import { createClient } from "../../client/src/index.ts";
import { asCaller, parallelConnections, sql } from "../support/database.ts";
import { createProfessional } from "../support/factories.ts";
import { stack } from "../support/stack.ts";

const [holder] = parallelConnections(1) as [typeof sql];

test("a write that somebody is in the way of is sent again when they have gone, and is written once", async () => {
  const professional = await createProfessional();
  let leave = () => {};
  const gone = new Promise<void>((resolve) => {
    leave = resolve;
  });
  let other = Promise.resolve();
  await new Promise<void>((held) => {
    other = asCaller(
      professional.claims,
      async (tx) => {
        await tx`insert into public.clients (name) values ('Luca')`;
        held();
        await gone;
      },
      holder,
    );
  });

  const waits: number[] = [];
  const api = createClient(stack.apiUrl, stack.publishableKey, {
    accessToken: async () => professional.token,
    retry: {
      random: () => 0,
      sleep: async (milliseconds) => {
        waits.push(milliseconds);
        leave();
        await other;
      },
    },
  });
  await api.run(api.from("clients").insert({ name: "Marta" })).finally(leave);
  expect(waits).toEqual([1000]);
  const rows = await sql`select name from public.clients where professional_id = ${professional.id}
    and name = 'Marta'`;
  expect(rows).toHaveLength(1);
});
