/** An idempotency key belongs to what a person means to do once. */
import { expect, test } from "vitest";
import { createIntent } from "../../../client/src/index.ts";

const BOOKING = { service_id: "s", starts_at: "t", client: { name: "Marta", email: "m@e.co" } };
const ELSEWHERE = { ...BOOKING, starts_at: "u" };

function storage() {
  const kept = new Map<string, string>();
  return {
    kept,
    getItem: (name: string) => kept.get(name) ?? null,
    setItem: (name: string, value: string) => void kept.set(name, value),
    removeItem: (name: string) => void kept.delete(name),
  };
}

test("the same arguments have the same key, in whatever order they are", () => {
  const intent = createIntent();
  const { client, ...rest } = BOOKING;
  const { name, email } = client;
  expect(intent.key(BOOKING)).toBe(intent.key({ client: { email, name }, ...rest }));
});

test("other arguments have another key, and those from before theirs again", () => {
  const intent = createIntent();
  const first = intent.key(BOOKING);
  expect(intent.key(ELSEWHERE)).not.toBe(first);
  expect(intent.key(BOOKING)).toBe(first);
});

test("what is done begins anew", () => {
  const intent = createIntent();
  const first = intent.key(BOOKING);
  intent.done();
  expect(intent.key(BOOKING)).not.toBe(first);
});

test("two intents have two keys for the same arguments", () => {
  expect(createIntent().key(BOOKING)).not.toBe(createIntent().key(BOOKING));
});

test("with a storage the key outlives the page, until it is done", () => {
  const place = storage();
  const first = createIntent({ storage: place }).key(BOOKING);
  expect(createIntent({ storage: place }).key(BOOKING)).toBe(first);
  createIntent({ storage: place }).done();
  expect(createIntent({ storage: place }).key(BOOKING)).not.toBe(first);
});

test("intents of one page are told apart by name", () => {
  const place = storage();
  const first = createIntent({ storage: place, name: "booking" }).key(BOOKING);
  expect(createIntent({ storage: place, name: "order" }).key(BOOKING)).not.toBe(first);
});

test("nothing that was typed is in the storage", () => {
  const place = storage();
  createIntent({ storage: place }).key(BOOKING);
  expect([...place.kept.values()].join()).not.toMatch(/Marta|m@e\.co/);
});

test("what is in the storage and is none of ours is as nothing", () => {
  const place = storage();
  for (const text of ["{", "null", '{"a": 1}', "[1]"]) {
    place.setItem("scheduling-and-commerce:intent", text);
    expect(createIntent({ storage: place }).key(BOOKING)).toMatch(/^[0-9a-f-]{36}$/);
  }
});
