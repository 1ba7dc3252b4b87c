/** Bookings of the public that wait for the link in their mail. */
import type { Sql } from "postgres";
import { beforeAll, describe, expect, test } from "vitest";
import { dateIn, everyDay, instantOf, iso } from "../support/calendar.ts";
import { anonymous, server } from "../support/callers.ts";
import { answer, failure, outcome } from "../support/commerce.ts";
import { asCaller, parallelConnections, sql } from "../support/database.ts";
import {
  createBooking,
  createBookingSession,
  createClientRow,
  createPortalSession,
  type Professional,
} from "../support/factories.ts";
import {
  confirmHold,
  isOver,
  reportPortalAddress,
  rowOf,
  sweep,
  undisturbed,
} from "../support/holds.ts";
import { signLink } from "../support/links.ts";
import { callFunction } from "../support/portal.ts";
import {
  availableSlots,
  book,
  freeStarts,
  openProfessional,
  openService,
} from "../support/scheduling.ts";
import { eventsOf, record } from "../support/webhooks.ts";

const ROME = "Europe/Rome";
const MINUTE = 60_000;
const anon = anonymous();
const day = dateIn(10, ROME);
const at = (time: string) => iso(instantOf(day, time, ROME));
const connections = parallelConnections(8);
const alone = undisturbed();

type Receipt = { id: string; status: string; expires_at: string | null; version: number };

beforeAll(reportPortalAddress);

/** A professional whose public bookings are holds; its events are recorded. */
async function careful(values: Parameters<typeof openService>[1] = {}) {
  const professional = await openProfessional({ verify_public_email: true });
  const [service, client] = await Promise.all([
    openService(professional, values),
    createClientRow(professional),
  ]);
  await record(professional);
  const before = (await eventsOf(professional)).at(-1)?.sequence ?? 0;
  const news = async () =>
    (await eventsOf(professional, before)).map(({ type, data, previous }) => ({
      type,
      data,
      previous,
    }));
  const types = async () => (await news()).map(({ type }) => type);
  const hold = async (time = "10:00", client_email?: string): Promise<Receipt> =>
    answer(book(anon, service, at(time), client_email ? { client_email } : {}));
  const own = (time: string) => ({
    client_id: client.id,
    service_id: service.id,
    starts_at: at(time),
  });
  return { professional, service, client, news, types, hold, own };
}

const patch = (tx: Sql, values: Record<string, unknown>, ...rows: { id: string }[]) =>
  tx`update public.bookings set ${tx(values)} where id in ${tx(rows.map(({ id }) => id))}`;

async function statusOf(row: { id: string }): Promise<string> {
  const { status, cancelled_by } = await rowOf("bookings", row);
  return cancelled_by ? `${status} by ${cancelled_by}` : status;
}

describe("a booking of the public", () => {
  test.each([false, true])(
    "is a hold of 30 minutes where addresses are verified, confirmation required: %s",
    async (requires_confirmation) => {
      const { hold } = await careful({ requires_confirmation });
      const receipt = await hold();

      expect(receipt).toMatchObject({ status: "pending", version: 1 });
      const row = await rowOf("bookings", receipt);
      expect(receipt.expires_at).toBe(row.expires_at.toISOString());
      expect(row.expires_at - row.created_at).toBe(30 * MINUTE);
      expect(row.email_confirmed_at).toBe(null);
    },
  );

  test("is not held beyond its start", async () => {
    const { professional } = await careful();
    await sql`update public.profiles set availability = ${sql.json(everyDay(["00:00", "24:00"]) as never)}
      where id = ${professional.id}`;
    const service = await openService(professional, { duration: 5, slot_step: 5 });
    const today = await freeStarts(anon, service, dateIn(0, ROME), dateIn(1, ROME));
    const receipt = await answer<Receipt>(book(anon, service, today[0] as string));
    expect(receipt.expires_at).toBe(today[0]);
  });

  test("is what its service makes it where they are not, and has no expiry", async () => {
    const professional = await openProfessional();
    const service = await openService(professional);
    const receipt = await answer<Receipt>(book(anon, service, at("10:00")));
    expect(receipt).toMatchObject({ status: "confirmed", expires_at: null });
  });

  test("is no hold when a portal client books for itself, or the owner", async () => {
    const { professional, service, client, own } = await careful();
    const portal = await createPortalSession(client);
    const call = { service_id: service.id, starts_at: at("10:00") };
    expect(await answer(portal.api.rpc("create_booking", call))).toMatchObject({
      status: "confirmed",
      expires_at: null,
    });
    expect(await createBooking(professional, own("12:00"))).toMatchObject({
      status: "confirmed",
      expires_at: null,
    });
    // For somebody else, a portal client is the public.
    const other = await answer<Receipt>(book(portal.api, service, at("14:00")));
    expect(other.expires_at).not.toBe(null);
  });

  test("blocks its time until it is over, and not after that", async () => {
    const { service, hold } = await careful();
    const receipt = await hold();
    expect(await freeStarts(anon, service, day)).not.toContain(at("10:00"));
    expect(await failure(book(anon, service, at("10:30")))).toMatchObject({
      status: 409,
      code: "slot_taken",
    });

    await isOver("bookings", receipt);

    expect(await freeStarts(anon, service, day)).toContain(at("10:00"));
    const explained = await anon.rpc("explain_slot", {
      service_id: service.id,
      starts_at: at("10:30"),
    });
    expect(explained.data).toMatchObject({ reason: "available" });
    const next = await hold("10:30");
    expect(await statusOf(receipt)).toBe("cancelled by system");
    expect(await statusOf(next)).toBe("pending");
  });

  test("replayed by its key is the same hold, as it is now", async () => {
    const { service, professional } = await careful();
    const call = () =>
      answer<Receipt>(
        book(anon, service, at("10:00"), {
          client_email: "ann@example.com",
          idempotency_key: professional.id,
        }),
      );
    const receipt = await call();
    expect(await call()).toEqual(receipt);
    await isOver("bookings", receipt);
    expect(await call()).toMatchObject({ id: receipt.id, status: "cancelled", expires_at: null });
  });
});

describe("nobody hears of a hold", () => {
  test("when it is made, edited by its owner, over, and swept; its client neither", async () => {
    const { professional, hold, types } = await careful();
    const receipt = await hold();
    await answer(
      professional.api.from("bookings").update({ internal_notes: "?" }).eq("id", receipt.id),
    );
    await isOver("bookings", receipt);
    await sweep("bookings", receipt);

    expect(await statusOf(receipt)).toBe("cancelled by system");
    expect(await types()).toEqual([]);
  });

  test("when it is cancelled, by the owner or its client", async () => {
    const { professional, client, hold, types } = await careful();
    const [one, other] = [await hold("10:00"), await hold("12:00", client.email as string)];
    await answer(professional.api.rpc("cancel_booking", { booking_id: one.id }));
    const portal = await createPortalSession(client);
    await answer(portal.api.rpc("cancel_booking", { booking_id: other.id }));

    expect([await statusOf(one), await statusOf(other)]).toEqual([
      "cancelled by owner",
      "cancelled by client",
    ]);
    expect(await types()).toEqual([]);
  });

  test("until it is a booking: then it is created, after the client who was made for it", async () => {
    const { hold, news } = await careful();
    const receipt = await hold("10:00", "new@example.com");
    await answer(confirmHold("booking", receipt));

    expect(await news()).toEqual([
      {
        type: "client.created",
        data: expect.objectContaining({ email: "new@example.com" }),
        previous: null,
      },
      {
        type: "booking.created",
        data: expect.objectContaining({
          id: receipt.id,
          status: "confirmed",
          expires_at: null,
          email_confirmed_at: expect.stringMatching(/Z$/),
        }),
        previous: null,
      },
    ]);
  });

  test("a client who was there already is not created again", async () => {
    const { client, hold, types } = await careful();
    await answer(confirmHold("booking", await hold("10:00", client.email as string)));
    expect(await types()).toEqual(["booking.created"]);
  });

  test("a client made for a hold is told of once, by what has to do with it first", async () => {
    const { professional, service, hold, types } = await careful();
    const receipt = await hold("10:00");
    const { client_id } = await rowOf("bookings", receipt);
    await answer(professional.api.from("clients").update({ phone: "1" }).eq("id", client_id));
    expect(await types()).toEqual(["client.created"]);
    await answer(professional.api.from("clients").update({ phone: "2" }).eq("id", client_id));
    await answer(confirmHold("booking", receipt));
    expect(await types()).toEqual(["client.created", "client.updated", "booking.created"]);

    const other = await rowOf("bookings", await hold("12:00"));
    await createBooking(professional, {
      client_id: other.client_id,
      service_id: service.id,
      starts_at: at("14:00"),
    });
    expect((await types()).slice(3)).toEqual(["client.created", "booking.created"]);
  });

  test("a hold confirmed by the owner, or brought back by the owner, is created", async () => {
    const { professional, client, hold, types } = await careful();
    const email = client.email as string;
    const [live, over] = [await hold("10:00", email), await hold("12:00", email)];
    await isOver("bookings", over);
    await sweep("bookings", over);
    for (const { id } of [live, over]) {
      await answer(professional.api.from("bookings").update({ status: "confirmed" }).eq("id", id));
    }
    expect(await types()).toEqual(["booking.created", "booking.created"]);
    expect(await rowOf("bookings", over)).toMatchObject({ status: "confirmed", expires_at: null });
  });
});

describe("the client's portal", () => {
  test("shows a hold until it is over, with its expiry, and never after that", async () => {
    const { client, hold } = await careful();
    const portal = await createPortalSession(client);
    const receipt = await hold("10:00", client.email as string);
    const list = () => answer(portal.api.from("bookings").select("id, status, expires_at"));
    const { id, expires_at } = receipt;
    expect(await list()).toEqual([{ id, status: "pending", expires_at }]);

    await isOver("bookings", receipt);
    expect(await list()).toEqual([]);
    await sweep("bookings", receipt);
    expect(await list()).toEqual([]);
  });

  test("cannot cancel, move or ask about one that is over; it can one that is not", async () => {
    const { client, service, hold } = await careful();
    const portal = await createPortalSession(client);
    const receipt = await hold("10:00", client.email as string);
    const moved = { booking_id: receipt.id, starts_at: at("11:00") };
    await availableSlots(portal.api, service, day, day, receipt.id);
    expect(await answer(portal.api.rpc("reschedule_booking", moved))).toMatchObject({
      status: "pending",
      expires_at: receipt.expires_at,
    });

    await isOver("bookings", receipt);
    const gone = { status: 404, code: "PGRST301", details: null };
    expect(await failure(portal.api.rpc("reschedule_booking", moved))).toEqual(gone);
    expect(await failure(portal.api.rpc("cancel_booking", { booking_id: receipt.id }))).toEqual(
      gone,
    );
    const slots = {
      service_id: service.id,
      from_date: day,
      to_date: day,
      reschedule_of: receipt.id,
    };
    expect(await failure(portal.api.rpc("available_slots", slots))).toEqual(gone);
  });

  test("nor does a session of that booking alone see or change it", async () => {
    const { professional, hold } = await careful();
    const receipt = await hold();
    const { client_id } = await rowOf("bookings", receipt);
    const { api } = await createBookingSession({
      id: receipt.id,
      professional_id: professional.id,
      client_id,
    });
    const { id, expires_at } = receipt;
    const list = () => answer(api.from("bookings").select("id, expires_at"));
    expect(await list()).toEqual([{ id, expires_at }]);
    await isOver("bookings", receipt);
    expect(await list()).toEqual([]);
    expect(await failure(api.rpc("cancel_booking", { booking_id: id }))).toMatchObject({
      status: 404,
      code: "PGRST301",
    });
  });

  test("does not count holds of the public as open bookings of the client's own making", async () => {
    const { client, service, hold } = await careful();
    for (const time of ["09:00", "10:00", "11:00", "12:00", "13:00"]) {
      await hold(time, client.email as string);
    }
    const portal = await createPortalSession(client);
    const call = { service_id: service.id, starts_at: at("14:00") };
    expect((await portal.api.rpc("create_booking", call)).error).toBe(null);
  });
});

describe("confirm_hold", () => {
  test.each([
    [false, "confirmed"],
    [true, "pending"],
  ] as const)(
    "makes it what its service makes it (confirmation required: %s → %s), and twice is once",
    async (requires_confirmation, status) => {
      const { hold, types } = await careful({ requires_confirmation });
      const receipt = await hold();
      const confirmed = await answer(confirmHold("booking", receipt));
      expect(confirmed).toEqual({
        kind: "booking",
        booking: { ...receipt, status, expires_at: null, version: 2 },
        order: null,
      });
      const { email_confirmed_at } = await rowOf("bookings", receipt);
      expect(email_confirmed_at).toBeInstanceOf(Date);

      expect(await answer(confirmHold("booking", receipt))).toEqual(confirmed);
      expect(await rowOf("bookings", receipt)).toMatchObject({ email_confirmed_at, version: 2 });
      expect(await types()).toEqual(["client.created", "booking.created"]);
    },
  );

  test.each([false, true])(
    "confirms one that is over while its time is free, swept: %s",
    async (swept) => {
      const { hold } = await careful({ requires_confirmation: true });
      const receipt = await hold();
      await isOver("bookings", receipt);
      if (swept) await sweep("bookings", receipt);
      await answer(confirmHold("booking", receipt));
      expect(await rowOf("bookings", receipt)).toMatchObject({
        status: "pending",
        expires_at: null,
        cancelled_at: null,
        cancelled_by: null,
      });
    },
  );

  test("refuses one that is over when its time is taken, or past", async () => {
    const { hold } = await careful();
    const [taken, past] = [await hold("10:00"), await hold("12:00")];
    await isOver("bookings", taken);
    await hold("10:30");
    expect(await failure(confirmHold("booking", taken))).toMatchObject({
      status: 409,
      code: "slot_taken",
    });

    await sql`
      update public.bookings
      set starts_at = now() - interval '1 minute', expires_at = now() - interval '1 minute'
      where id = ${past.id}`;
    expect(await failure(confirmHold("booking", past))).toMatchObject({
      status: 409,
      code: "hold_expired",
    });
  });

  test("refuses one that is over once no bookings are accepted", async () => {
    const { professional, hold } = await careful();
    const [inTime, over] = [await hold("10:00"), await hold("12:00")];
    await isOver("bookings", over);
    await answer(
      professional.api
        .from("profiles")
        .update({ accepts_bookings: false })
        .eq("id", professional.id),
    );
    expect(await failure(confirmHold("booking", over))).toMatchObject({
      status: 409,
      code: "hold_expired",
    });
    expect((await confirmHold("booking", inTime)).error).toBeNull();
  });

  test("refuses one that somebody cancelled, also after it was confirmed by the owner", async () => {
    const { professional, hold } = await careful();
    const [held, confirmed] = [await hold("10:00"), await hold("12:00")];
    await answer(
      professional.api.from("bookings").update({ status: "confirmed" }).eq("id", confirmed.id),
    );
    for (const { id } of [held, confirmed]) {
      await answer(professional.api.rpc("cancel_booking", { booking_id: id }));
      expect(await failure(confirmHold("booking", { id }))).toMatchObject({
        status: 409,
        code: "invalid_transition",
      });
    }
  });

  test("notes the link of one that the owner confirmed by hand, and tells nobody", async () => {
    const { professional, hold, types } = await careful({ requires_confirmation: true });
    const receipt = await hold();
    await answer(
      professional.api.from("bookings").update({ status: "confirmed" }).eq("id", receipt.id),
    );
    const before = await types();
    await answer(confirmHold("booking", receipt));
    const row = await rowOf("bookings", receipt);
    expect(row.status).toBe("confirmed");
    expect(row.email_confirmed_at).toBeInstanceOf(Date);
    expect(await types()).toEqual(before);
  });

  test("knows no hold of another epoch, of an archived client, of another kind, or at all", async () => {
    const { professional, hold } = await careful();
    const receipt = await hold();
    const { client_id } = await rowOf("bookings", receipt);
    const call = (kind: string, id: string, link_epoch: number) =>
      failure(server().rpc("confirm_hold", { kind, id, link_epoch }));
    const unknown = { status: 404, code: "PGRST301", details: null };
    expect(await call("booking", receipt.id, 2)).toEqual(unknown);
    expect(await call("order", receipt.id, 1)).toEqual(unknown);
    expect(await call("booking", professional.id, 1)).toEqual(unknown);
    await answer(professional.api.from("clients").update({ archived: true }).eq("id", client_id));
    expect(await call("booking", receipt.id, 2)).toEqual(unknown);
    await answer(professional.api.from("clients").update({ archived: false }).eq("id", client_id));
    expect(await call("booking", receipt.id, 1)).toEqual(unknown);
    expect((await confirmHold("booking", receipt)).error).toBe(null);
  });

  test("says which arguments it cannot use", async () => {
    const nothing = { kind: "page", id: null, link_epoch: null } as never;
    expect(await failure(server().rpc("confirm_hold", nothing))).toEqual({
      status: 422,
      code: "validation_failed",
      details: { fields: ["kind", "id", "link_epoch"] },
    });
  });
});

describe("the link in the mail", () => {
  const open = async (row: { id: string }, epoch: number) => {
    const link = { purpose: "confirm", kind: "booking", row: row.id, epoch } as const;
    const response = await callFunction("verify-portal-otp/confirm", {
      token: await signLink(link),
    });
    return { status: response.status, body: await response.json() };
  };

  test("ends the hold, says what became of it, and may be opened again", async () => {
    const { hold } = await careful();
    const receipt = await hold();
    const opened = await open(receipt, 1);
    expect(opened).toMatchObject({
      status: 200,
      body: { kind: "booking", booking: { id: receipt.id, status: "confirmed" }, order: null },
    });
    expect(await open(receipt, 1)).toEqual(opened);
  });

  test("is worth nothing under another epoch, and tells what is in the way", async () => {
    const { hold } = await careful();
    const receipt = await hold();
    expect(await open(receipt, 2)).toMatchObject({ status: 401, body: { code: "invalid_link" } });
    await isOver("bookings", receipt);
    await hold("10:30");
    expect(await open(receipt, 1)).toMatchObject({ status: 409, body: { code: "slot_taken" } });
  });
});

describe("the owner and holds that are over", () => {
  test("an edit treats one as live while nobody took its time", async () => {
    const { professional, hold } = await careful();
    const receipt = await hold();
    await alone(professional, async (connection, asOwner) => {
      await isOver("bookings", receipt, connection);
      await asOwner((tx) => patch(tx, { notes: "called" }, receipt));
      await asOwner((tx) => patch(tx, { starts_at: at("12:00") }, receipt));
      expect(await statusOf(receipt)).toBe("pending");
      await asOwner((tx) => patch(tx, { status: "confirmed" }, receipt));
    });
    expect(await rowOf("bookings", receipt)).toMatchObject({
      status: "confirmed",
      expires_at: null,
      notes: "called",
    });
  });

  test("an edit of one whose time was taken is 409 slot_taken", async () => {
    const { professional, hold } = await careful();
    const receipt = await hold();
    await isOver("bookings", receipt);
    await hold("10:30");
    const update = professional.api.from("bookings").update({ status: "confirmed" });
    expect(await failure(update.eq("id", receipt.id))).toMatchObject({
      status: 409,
      code: "slot_taken",
    });
  });

  test("in bulk, those that are over and those that are not become bookings", async () => {
    const { professional, hold, client, types } = await careful();
    const email = client.email as string;
    const rows = [
      await hold("09:00", email),
      await hold("11:00", email),
      await hold("13:00", email),
    ];
    await alone(professional, async (connection, asOwner) => {
      await isOver("bookings", rows[0] as Receipt, connection);
      await isOver("bookings", rows[2] as Receipt, connection);
      await asOwner((tx) => patch(tx, { status: "confirmed" }, ...rows));
    });
    for (const row of rows) expect(await statusOf(row)).toBe("confirmed");
    expect(await types()).toEqual(rows.map(() => "booking.created"));
  });

  test("in bulk over HTTP, swept or not", async () => {
    const { professional, hold } = await careful();
    const rows = [await hold("09:00"), await hold("11:00"), await hold("13:00")];
    await isOver("bookings", rows[0] as Receipt);
    await isOver("bookings", rows[1] as Receipt);
    await sweep("bookings", rows[0] as Receipt);
    const update = professional.api.from("bookings").update({ status: "confirmed" });
    await answer(
      update.in(
        "id",
        rows.map(({ id }) => id),
      ),
    );
    for (const row of rows) expect(await statusOf(row)).toBe("confirmed");
  });

  test("a new booking ends the one it meets, and no other", async () => {
    const { professional, hold, own } = await careful();
    const [met, other] = [await hold("10:00"), await hold("12:00")];
    await alone(professional, async (connection, asOwner) => {
      await isOver("bookings", met, connection);
      await isOver("bookings", other, connection);
      await asOwner((tx) => tx`insert into public.bookings ${tx(own("10:30"))}`);
      expect([await statusOf(met), await statusOf(other)]).toEqual([
        "cancelled by system",
        "pending",
      ]);
    });
  });

  test("so does a booking that is moved or comes back, of several in one statement each", async () => {
    const { professional, hold, own } = await careful();
    const moved = await createBooking(professional, own("09:00"));
    const cancelled = await createBooking(professional, own("14:00"));
    await answer(professional.api.rpc("cancel_booking", { booking_id: cancelled.id }));
    const holds = [await hold("10:00"), await hold("14:00")] as const;
    await alone(professional, async (connection, asOwner) => {
      for (const row of holds) await isOver("bookings", row, connection);
      await asOwner((tx) => patch(tx, { starts_at: at("10:30") }, moved));
      expect(await statusOf(holds[0])).toBe("cancelled by system");
      await asOwner((tx) => patch(tx, { status: "confirmed" }, moved, cancelled));
    });
    expect(await statusOf(holds[1])).toBe("cancelled by system");
    expect(await statusOf(cancelled)).toBe("confirmed");
  });

  test.each(["forwards", "backwards"])(
    "what is written over one in the same statement is 409 slot_taken, whichever row is first: %s",
    async (direction) => {
      const { professional, hold, own } = await careful();
      const receipt = await hold("10:00");
      // Postgres comes to rows in the order in which they lie in the table.
      const booking = await createBooking(professional, own("12:00"));
      await alone(professional, async (connection, asOwner) => {
        const rows = [booking, receipt];
        if (direction === "backwards") {
          await asOwner((tx) => patch(tx, { notes: "last" }, booking));
          await isOver("bookings", receipt, connection);
        } else {
          await isOver("bookings", receipt, connection);
          await asOwner((tx) => patch(tx, { notes: "last" }, booking));
        }
        expect(await outcome(asOwner((tx) => patch(tx, { starts_at: at("10:30") }, ...rows)))).toBe(
          "slot_taken",
        );

        expect(await statusOf(receipt)).toBe("pending");
      });
    },
  );

  test.each([0, 1])(
    "a cancelled booking and a hold at its time cannot both be confirmed (order %s)",
    async (order) => {
      const { professional, hold, own } = await careful();
      const booking = await createBooking(professional, own("10:00"));
      await answer(professional.api.rpc("cancel_booking", { booking_id: booking.id }));
      const receipt = await hold("10:00");
      await alone(professional, async (connection, asOwner) => {
        await isOver("bookings", receipt, connection);
        if (order) await asOwner((tx) => patch(tx, { notes: "last" }, booking));
        const both = asOwner((tx) => patch(tx, { status: "confirmed" }, booking, receipt));
        expect(await outcome(both)).toBe("slot_taken");
        expect(await statusOf(receipt)).toBe("pending");
      });
    },
  );

  test("an RPC ends all of them: they are cancelled when it looks", async () => {
    const { professional, hold } = await careful();
    const [one, other] = [await hold("10:00"), await hold("12:00")];
    await isOver("bookings", one);
    await isOver("bookings", other);
    const cancelled = await answer(professional.api.rpc("cancel_booking", { booking_id: one.id }));
    expect(cancelled).toMatchObject({ status: "cancelled", version: 3 });
    expect([await statusOf(one), await statusOf(other)]).toEqual([
      "cancelled by system",
      "cancelled by system",
    ]);
  });

  test("a hold that is not over keeps its time from the owner too", async () => {
    const { professional, hold, own } = await careful();
    await hold("10:00");
    const insert = professional.api.from("bookings").insert(own("10:30"));
    expect(await failure(insert)).toMatchObject({ status: 409, code: "slot_taken" });
  });
});

describe("the job", () => {
  test("ends the holds of one professional at a time, and only those that are over", async () => {
    const [one, other] = [await careful(), await careful()];
    const over = [await one.hold("10:00"), await other.hold("10:00")];
    const live = await one.hold("12:00");
    for (const row of over) await isOver("bookings", row);
    for (const row of over) await sweep("bookings", row);
    for (const row of over) expect(await statusOf(row)).toBe("cancelled by system");
    expect(await statusOf(live)).toBe("pending");
  });

  test("leaves a professional alone whose lock is kept", async () => {
    const { professional, hold } = await careful();
    const receipt = await hold();
    await alone(professional, async (connection) => {
      await isOver("bookings", receipt, connection);
      while ((await sql`select private.sweep_holds() as did`)[0]?.did);
      expect(await statusOf(receipt)).toBe("pending");
    });
  });
});

describe("a client is erased", () => {
  test("with its hold: the link is dead, and nobody hears of either", async () => {
    const { professional, hold, types } = await careful();
    const receipt = await hold();
    const { client_id } = await rowOf("bookings", receipt);
    await answer(professional.api.rpc("erase_client", { client_id }));
    expect(await types()).toEqual([]);
    expect(await failure(confirmHold("booking", receipt))).toMatchObject({ status: 404 });
  });
});

describe("at the same time", () => {
  const confirmInSql = (connection: Sql, row: { id: string }) =>
    asCaller(
      { role: "service_role" },
      (tx) => tx`select public.confirm_hold('booking', ${row.id}, 1)`,
      connection,
    );
  const bookInSql = (connection: Sql, service: { id: string }, time: string) =>
    asCaller(
      { role: "anon" },
      (tx) => tx`
        select public.create_booking(
          ${service.id}, ${at(time)}, 'Ann', ${`ann-${crypto.randomUUID()}@example.com`}
        )`,
      connection,
    );
  async function live(professional: Professional): Promise<number> {
    const rows = await sql`
      select from public.bookings
      where professional_id = ${professional.id} and status in ('pending', 'confirmed')`;
    return rows.length;
  }

  test("eight confirm one hold: all are told the same, it is created once", async () => {
    const { client, hold, types } = await careful();
    const email = client.email as string;
    const times = ["09:00", "10:00", "11:00", "12:00", "13:00", "14:00"];
    // Connected before, so that they meet.
    await Promise.all(connections.map((connection) => connection`select 1`));
    for (const time of times) {
      const receipt = await hold(time, email);
      const answers = await Promise.all(
        connections.map((connection) => confirmInSql(connection, receipt)),
      );
      expect(new Set(answers.map((rows) => JSON.stringify(rows))).size).toBe(1);
      expect((await rowOf("bookings", receipt)).version).toBe(2);
    }
    expect(await types()).toEqual(times.map(() => "booking.created"));
  });

  test("confirming one that is over against the job: it is confirmed, and created once", async () => {
    const { hold, types } = await careful();
    const rows = await Promise.all(["09:00", "11:00", "13:00", "15:00"].map((time) => hold(time)));
    for (const row of rows) await isOver("bookings", row);
    await Promise.all(
      connections.map((connection, n) =>
        n % 2
          ? connection`select private.sweep_holds()`
          : confirmInSql(connection, rows[n / 2] as Receipt),
      ),
    );
    for (const row of rows) expect(await statusOf(row)).toBe("confirmed");
    expect((await types()).filter((type) => type === "booking.created")).toHaveLength(4);
  });

  test("confirming one that is over against others who book its time: one of them has it", async () => {
    const { professional, service, hold } = await careful();
    const receipt = await hold();
    await isOver("bookings", receipt);
    const outcomes = await Promise.all(
      connections.map((connection, n) =>
        outcome(
          n === 0
            ? confirmInSql(connection, receipt)
            : bookInSql(connection, service, n % 2 ? "10:00" : "10:30"),
        ),
      ),
    );
    expect(outcomes.filter((code) => code === "done")).toHaveLength(1);
    expect(outcomes.filter((code) => code === "slot_taken")).toHaveLength(7);
    expect(await live(professional)).toBe(1);
  });

  test("the owner's bulk edit against confirmations, bookings and the job: nothing but typed refusals", async () => {
    const { professional, service, hold } = await careful();
    const times = ["09:00", "10:00", "11:00", "12:00", "13:00", "14:00"];
    const rows: Receipt[] = [];
    for (const time of times) rows.push(await hold(time));
    for (const row of rows.slice(0, 4)) await isOver("bookings", row);

    const outcomes = await Promise.all(
      Array.from({ length: 48 }, (_, n) => {
        const connection = connections[n % 8] as Sql;
        const row = rows[n % rows.length] as Receipt;
        switch (n % 4) {
          case 0:
            return outcome(
              asCaller(
                professional.claims,
                (tx) => patch(tx as unknown as Sql, { status: "confirmed" }, ...rows),
                connection,
              ),
            );
          case 1:
            return outcome(confirmInSql(connection, row));
          case 2:
            return outcome(bookInSql(connection, service, times[n % 6] as string));
          default:
            return outcome(connection`select private.sweep_holds()`);
        }
      }),
    );
    expect(outcomes.filter((code) => code !== "done" && code !== "slot_taken")).toEqual([]);
    const [overlapping] = await sql`
      select count(*)::integer from public.bookings a join public.bookings b on a.id < b.id
      where a.professional_id = ${professional.id} and b.professional_id = ${professional.id}
        and a.status in ('pending', 'confirmed') and b.status in ('pending', 'confirmed')
        and tstzrange(a.starts_at, a.ends_at) && tstzrange(b.starts_at, b.ends_at)`;
    expect(overlapping?.count).toBe(0);
  });
});

describe("where no portal address was reported", () => {
  test("report_portal_address takes web addresses, from servers only", async () => {
    const report = (portal_url: string) =>
      failure(server().rpc("report_portal_address", { portal_url }));
    const invalid = {
      status: 422,
      code: "validation_failed",
      details: { fields: ["portal_url"] },
    };
    expect(await report("app.example")).toEqual(invalid);
    expect(await report(`https://app.example/${"a".repeat(2048)}`)).toEqual(invalid);
  });

  test("the owner switches verification on and off where one was", async () => {
    const professional = await openProfessional();
    for (const verify_public_email of [true, false]) {
      const update = professional.api.from("profiles").update({ verify_public_email });
      expect((await update.eq("id", professional.id)).error).toBe(null);
    }
  });
});
