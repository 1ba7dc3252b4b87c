import { getAuthSchemaSql } from "@supabase/lite";
import type postgres from "postgres";

/** What the platform's schema has that upstream's lacks: columns, and the methods of each sign-in. */
const additions = `
alter table auth.users add column if not exists instance_id uuid;
alter table auth.users add column if not exists is_super_admin boolean;
alter table auth.sessions add column if not exists oauth_client_id uuid;

create table if not exists auth.mfa_amr_claims (
  id uuid primary key default gen_random_uuid(),
  session_id uuid not null references auth.sessions (id) on delete cascade,
  authentication_method text not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  unique (session_id, authentication_method)
);`;

/**
 * Bend: schema `auth`.
 * Upstream creates its tables as the superuser. On the platform `supabase_auth_admin` owns them; run as
 * that role. `local/platform-auth.sql` guards them and adds the helpers.
 */
export async function ensureAuthSchema(authAdmin: postgres.Sql): Promise<void> {
  // The schema exists already, and its owner may not create schemas.
  const tables = getAuthSchemaSql().replace(/create schema if not exists auth;/i, "");
  await authAdmin.begin(async (transaction) => {
    await transaction.unsafe(tables + additions).simple();
  });
}
