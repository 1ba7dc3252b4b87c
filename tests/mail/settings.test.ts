/** What a professional and a client choose about mails. */

import { beforeAll, describe, expect, test } from "vitest";
import { KINDS } from "../../supabase/functions/mail/facts.ts";
import { LANGUAGES } from "../../supabase/functions/mail/texts/index.ts";
import { everyDay } from "../support/calendar.ts";
import { anonymous, server } from "../support/callers.ts";
import { failure } from "../support/commerce.ts";
import { serverClaims, updateRefusedBy } from "../support/constraints.ts";
import { sql } from "../support/database.ts";
import {
  createClientRow,
  createProduct,
  createProfessional,
  createService,
  type Professional,
} from "../support/factories.ts";

let ana: Professional;
beforeAll(async () => {
  ana = await createProfessional({
    accepts_bookings: true,
    accepts_orders: true,
    availability: everyDay(["00:00", "24:00"]) as never,
  });
});

const refusedWith = (values: Record<string, unknown>) =>
  updateRefusedBy(serverClaims, "profiles", ana.id, values);

test("languages and kinds are those that there are texts for", async () => {
  const [row] = await sql<{ languages: string[]; client: string[]; professional: string[] }[]>`
    select private.languages() as languages, private.mail_kinds('client') as client,
      private.mail_kinds('professional') as professional`;
  expect(row?.languages).toEqual([...LANGUAGES]);
  const switchable = (audience: keyof typeof KINDS) =>
    Object.values(KINDS[audience])
      .flat()
      .filter((kind) => !/confirm$|^confirm/.test(kind))
      .sort();
  expect(row?.client.sort()).toEqual(switchable("client"));
  expect(row?.professional.sort()).toEqual(switchable("professional"));
});

describe("a profile", () => {
  test("begins with all mails on, a reminder a day before, in English, and shows no contact", async () => {
    const fresh = await createProfessional();
    const { data } = await fresh.api
      .from("profiles")
      .select("language, mail_settings, reminders, contact_email, public_contact, mail_footer")
      .single();
    expect(data).toEqual({
      language: "en",
      mail_settings: {},
      reminders: [1440],
      contact_email: null,
      public_contact: [],
      mail_footer: null,
    });
  });

  test("trims contact data, and keeps none for an empty text", async () => {
    const { data } = await ana.api
      .from("profiles")
      .update({ contact_email: " studio@example.com ", contact_phone: " " })
      .eq("id", ana.id)
      .select("contact_email, contact_phone")
      .single();
    expect(data).toEqual({ contact_email: "studio@example.com", contact_phone: null });
  });

  const kinds = "profiles_mail_settings_are_switches_of_known_kinds";
  const minutes = "profiles_reminders_are_at_most_2_of_30_to_20160_minutes";
  test.each<[Record<string, unknown>, string | null]>([
    [{ mail_settings: { client: { booking_confirmed: false }, professional: {} } }, null],
    [{ mail_settings: { professional: { new_order: true, client_undeliverable: false } } }, null],
    [{ mail_settings: { client: { new_order: false } } }, kinds],
    [{ mail_settings: { client: { booking_to_confirm: false } } }, kinds],
    [{ mail_settings: { professional: { confirm_address: false } } }, kinds],
    [{ mail_settings: { client: { booking_confirmed: null } } }, kinds],
    [{ mail_settings: { client: { booking_confirmed: "false" } } }, kinds],
    [{ mail_settings: { client: false } }, kinds],
    [{ mail_settings: { others: {} } }, kinds],
    [{ mail_settings: [{}] }, kinds],
    [{ language: "it" }, null],
    [{ language: "de" }, "profiles_language_is_known"],
    [{ contact_email: "studio" }, "profiles_contact_email_is_an_address"],
    [{ contact_phone: "1".repeat(41) }, "profiles_contact_phone_has_at_most_40_characters"],
    [{ address: "x".repeat(501) }, "profiles_address_has_at_most_500_characters"],
    [{ mail_footer: "x".repeat(1001) }, "profiles_mail_footer_has_at_most_1000_characters"],
    [{ public_contact: ["address", "contact_email", "contact_phone"] }, null],
    [{ public_contact: ["username"] }, "profiles_public_contact_is_of_email_phone_and_address"],
  ])("%j: %s", async (values, constraint) => {
    expect(await refusedWith(values)).toBe(constraint);
  });

  test.each<[string, string | null]>([
    ["{}", null],
    ["{30,20160}", null],
    ["{29}", minutes],
    ["{20161}", minutes],
    ["{60,60}", minutes],
    ["{30,60,90}", minutes],
    ["{60,NULL}", minutes],
    ["{{60,90}}", minutes],
  ])("reminders of %s: %s", async (reminders, constraint) => {
    const refused = await sql`
      update public.profiles set reminders = ${reminders}::text::integer[] where id = ${ana.id}`.then(
      () => null,
      (error: { constraint_name?: string }) => error.constraint_name,
    );
    expect(refused).toBe(constraint);
  });
});

describe("a client", () => {
  test("has a language and reminders that the professional writes, and a mail_status that nobody does", async () => {
    const client = await createClientRow(ana, { language: "it", reminders: false });
    expect(client).toMatchObject({ language: "it", reminders: false, mail_status: "ok" });
    const { error } = await ana.api
      .from("clients")
      .update({ mail_status: "undeliverable" } as never)
      .eq("id", client.id);
    expect(error?.code).toBe("42501");
    const { data } = await server()
      .from("clients")
      .update({ mail_status: "undeliverable" })
      .eq("id", client.id)
      .select("mail_status")
      .single();
    expect(data?.mail_status).toBe("ok");
    expect(await updateRefusedBy(serverClaims, "clients", client.id, { language: "de" })).toBe(
      "clients_language_is_known",
    );
  });

  const languageOf = async (email: string) => {
    const { data } = await ana.api.from("clients").select("language").eq("email", email).single();
    return data?.language;
  };

  test("that books keeps the language it booked in, when it is new", async () => {
    const service = await createService(ana);
    const book = (email: string, hours: number, language?: string) =>
      anonymous().rpc("create_booking", {
        service_id: service.id,
        starts_at: new Date(Math.ceil(Date.now() / 3_600_000 + hours) * 3_600_000).toISOString(),
        client_name: "Luca",
        client_email: email,
        ...(language !== undefined && { language }),
      });
    expect((await book("luca@example.com", 24, "it")).error).toBeNull();
    expect((await book("luca@example.com", 30, "en")).error).toBeNull();
    expect((await book("lia@example.com", 36)).error).toBeNull();
    expect([await languageOf("luca@example.com"), await languageOf("lia@example.com")]).toEqual([
      "it",
      null,
    ]);
    expect(await failure(book("lara@example.com", 42, "de"))).toEqual({
      status: 422,
      code: "validation_failed",
      details: { fields: ["language"] },
    });
  });

  test("that orders too", async () => {
    const product = await createProduct(ana);
    const order = (language: string) =>
      anonymous().rpc("place_order", {
        professional_id: ana.id,
        items: [{ product_id: product.id, quantity: 1 }] as never,
        client_name: "Olga",
        client_email: "olga@example.com",
        language,
      });
    expect((await order("it")).error).toBeNull();
    expect(await languageOf("olga@example.com")).toBe("it");
    expect((await order("xx")).error?.code).toBe("validation_failed");
  });
});
