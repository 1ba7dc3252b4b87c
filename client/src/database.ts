/** Until it is generated for front ends: the types that the functions use. */
export type { Database, Json } from "../../supabase/functions/_shared/database.types.ts";
