/**
 * POST /functions/v1/token: the key of a professional's program becomes an access token.
 * POST /functions/v1/token/check: whether the Data API takes the tokens that are signed here.
 */
import { callerIp } from "../_shared/caller-ip.ts";
import type { ServerRpc, UserRpc } from "../_shared/data-api.ts";
import { ApiError, rateLimited } from "../_shared/errors.ts";
import { createRouter, type Handler, type HttpDeps, type Route } from "../_shared/http.ts";
import type { TokenSigner } from "../_shared/signing.ts";
import { keyDigest } from "./keys.ts";

export interface TokenDeps extends HttpDeps {
  signer: TokenSigner;
  serverRpc: ServerRpc;
  userRpc: UserRpc;
  /** Whether a key is the project's secret key; takes the same time for every wrong one. */
  isSecretKey(key: string): Promise<boolean>;
  /** Exchanges per minute and network. */
  exchangesPerIpMinute: number;
  newId(): string;
  now(): Date;
}

/** What `exchange_api_key` answers; instants are Unix seconds, by the database's clock. */
interface Exchange {
  retry_after: number | null;
  session: {
    key_id: string;
    professional_id: string;
    issued_at: number;
    expires_at: number;
  } | null;
}

/** RFC 6749, 5.1. */
const NEVER_KEPT = { "Cache-Control": "no-store" };
/** What the auth service puts into the tokens of people. */
const USER = { role: "authenticated", aud: "authenticated" };

const invalidKey = () =>
  new ApiError(401, "invalid_api_key", "The key is not valid", {
    headers: { "WWW-Authenticate": "Bearer" },
  });

export function createHandler(deps: TokenDeps): Handler {
  const exchange: Route = async (request) => {
    const [, key = ""] = /^Bearer (\S+)$/i.exec(request.headers.get("authorization") ?? "") ?? [];
    const key_digest = await keyDigest(key);
    if (key_digest === null) throw invalidKey();
    const { retry_after, session } = await deps.serverRpc<"exchange_api_key", Exchange>(
      "exchange_api_key",
      {
        key_digest,
        ip: callerIp(request.headers) ?? "",
        ip_limit: deps.exchangesPerIpMinute,
      },
    );
    if (retry_after !== null) throw rateLimited(retry_after);
    // Unknown, revoked, expired, its owner gone: whoever holds it learns no more.
    if (!session) throw invalidKey();
    const { key_id, professional_id, issued_at, expires_at } = session;
    const access_token = await deps.signer.sign({
      ...USER,
      sub: professional_id,
      session_id: key_id,
      iat: issued_at,
      exp: expires_at,
    });
    const answer = { access_token, token_type: "bearer", expires_in: expires_at - issued_at };
    return Response.json(answer, { headers: NEVER_KEPT });
  };

  /** By a token of nobody: the Data API knows the signature, and finds no session. */
  const check: Route = async (request) => {
    if (!(await deps.isSecretKey(request.headers.get("apikey") ?? ""))) {
      throw new ApiError(401, "invalid_api_key", "The key is not the secret key");
    }
    const iat = Math.floor(deps.now().getTime() / 1000);
    const nobody = { sub: deps.newId(), session_id: deps.newId() };
    const token = await deps.signer.sign({ ...USER, ...nobody, iat, exp: iat + 60 });
    const code = await deps.userRpc(token, "authorize_action", {}).then(
      () => "none",
      (error: unknown) => {
        if (error instanceof ApiError) return error.code;
        throw error;
      },
    );
    if (code === "session_not_found") return new Response(null, { status: 204 });
    throw new ApiError(409, "signing_key_not_accepted", "The Data API does not know our key", {
      details: { code },
      hint: "The key of TOKEN_SIGNING_JWK or TOKEN_JWT_SECRET has to be one of the project's.",
    });
  };

  return createRouter(deps, { "": { POST: exchange }, check: { POST: check } });
}
