/** A thin helper over supabase-js for front ends and programs of this service. */
export {
  type ApiClient,
  type Call,
  type CallOptions,
  type ClientOptions,
  createClient,
  type KeyTokenOptions,
  keyToken,
  type RpcAnswer,
  type RpcArgs,
  type RpcName,
} from "./client.ts";
export type * from "./database.ts";
export { type AnyCode, ApiError, type ClientCode, isCode } from "./errors.ts";
export type { Functions } from "./functions.ts";
export { createIntent, type Intent, type IntentOptions } from "./intent.ts";
