/** What a professional's Google account has granted: kept by us sealed, and ended at Google when it goes. */
import { type ServerRpc, ServerRpcError } from "./data-api.ts";
import type { Google } from "./google.ts";
import type { Sealer } from "./sealed.ts";

/** What a token of Google's is sealed for. */
export const TOKEN_PURPOSE = "google_token";

export interface GoogleGrantDeps {
  serverRpc: ServerRpc;
  /** Undefined where the project has no keys for it. */
  sealer: Sealer | undefined;
  /** Undefined where the project has no OAuth client. */
  google: Google | undefined;
}

/**
 * Forgets a professional's Google calendar and ends the grant at Google. False when that did not work: then the
 * professional has to take the access away there. True also where there was none.
 */
export async function disconnectGoogle(
  professional_id: string,
  { serverRpc, sealer, google }: GoogleGrantDeps,
): Promise<boolean> {
  const grant: { connection_id: string; sealed_token: string } | null = await serverRpc(
    "google_grant",
    { professional_id },
  );
  if (grant === null) return true;
  const of = { professional_id, purpose: TOKEN_PURPOSE };
  const token = await sealer?.open(grant.sealed_token, of).catch(() => undefined);
  const revoked = token !== undefined && google !== undefined && (await google.revoke(token));
  await serverRpc("delete_google_connection", grant).catch((error: unknown) => {
    throw (error instanceof ServerRpcError && error.refusal) || error;
  });
  return revoked;
}
