/** When the function calendar is rung, and when nobody rings it. Alone, because it looks at every calendar there is. */
import type { TransactionSql } from "postgres";
import { beforeAll, describe, expect, it } from "vitest";
import { rolledBack } from "../support/database.ts";
import { createProfessional, type Professional } from "../support/factories.ts";

let ana: Professional;
let ivo: Professional;

beforeAll(async () => {
  [ana, ivo] = await Promise.all([createProfessional(), createProfessional()]);
});

const due = (tx: TransactionSql, who = ana, due_at: Date | string = "2000-01-01") =>
  tx`
    insert into private.busy_calendars (professional_id, sealed_address, host, due_at)
    values (${who.id}, 'sealed', 'calendar.example', ${due_at})`;

describe("what is due", () => {
  it("has a call each, up to twenty", async () => {
    await rolledBack(async (tx) => {
      const count = async () => {
        const [row] = await tx`
          select
            (select count(*)::integer from private.calendar_rings()) as calls,
            private.calendar_due() as due`;
        return row;
      };
      await tx`delete from private.busy_calendars`;
      expect(await count()).toEqual({ calls: 0, due: false });
      await due(tx);
      await due(tx, ivo);
      await due(tx, ivo, "2100-01-01");
      expect(await count()).toEqual({ calls: 2, due: true });
      for (let n = 0; n < 20; n++) await due(tx);
      expect(await count()).toEqual({ calls: 20, due: true });
    });
  });

  it("is rung for as often", async () => {
    const urls = await rolledBack(async (tx) => {
      // What the platform has, as far as it is used.
      await tx`create schema vault`;
      await tx`
        create table vault.decrypted_secrets as
        select * from (
          values ('project_url', 'https://project.test'), ('dispatch_secret', 'the secret')
        ) as secrets (name, decrypted_secret)`;
      await tx`create schema net`;
      await tx`create table net.calls (url text)`;
      await tx`
        create function net.http_post(
          url text, body jsonb, headers jsonb, timeout_milliseconds integer
        )
        returns bigint
        language sql
        as $$ insert into net.calls values ($1) returning 1::bigint $$`;
      await tx`delete from private.busy_calendars`;
      await tx`select private.ring_dispatcher('calendar')`;
      const before = await tx`select url from net.calls`;
      await due(tx);
      await due(tx, ivo);
      await due(tx, ivo, "2100-01-01");
      await tx`select private.ring_dispatcher('calendar')`;
      const rows = await tx<{ url: string }[]>`select url from net.calls`;
      return [before.length, ...rows.map(({ url }) => url)];
    });
    const url = "https://project.test/functions/v1/calendar/dispatch";
    expect(urls).toEqual([0, url, url]);
  });

  it("and stays so for five minutes is no longer ok", async () => {
    await rolledBack(async (tx) => {
      const status = async () =>
        (await tx`select public.health() ->> 'calendar' as calendar`)[0]?.calendar;
      await tx`delete from private.busy_calendars`;
      const [ago] =
        await tx`select now() - interval '4 minutes' as four, now() - interval '6 minutes' as six`;
      await due(tx, ana, ago?.four);
      expect(await status()).toBe("ok");
      await due(tx, ana, ago?.six);
      expect(await status()).toMatch(/^a busy calendar has been due since 20/);
    });
  });
});
