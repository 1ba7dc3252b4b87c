/** The database's types for functions and tests, by the engine behind `supabase gen types`. */
import { generateTypescript, sortGeneratorMetadata } from "@supabase/postgrest-typegen/generation";
import { introspect } from "@supabase/postgrest-typegen/introspection";
import type postgres from "postgres";

/** The text of the types of schema `public`. */
export async function databaseTypes(sql: postgres.Sql): Promise<string> {
  const metadata = await introspect(
    { query: async (text) => ({ rows: await sql.unsafe(text) }) },
    { includedSchemas: ["public"] },
  );
  return generateTypescript(sortGeneratorMetadata(metadata), {
    detectOneToOneRelationships: true,
    // What hosted projects run; the client types its answers by it.
    postgrestVersion: "14.5",
  });
}
