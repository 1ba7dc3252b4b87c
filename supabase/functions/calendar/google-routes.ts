/** `/google`: the professional's Google calendar, connected by a token that only this function can read. */
import { ServerRpcError, type UserRpc } from "../_shared/data-api.ts";
import { ApiError } from "../_shared/errors.ts";
import { GoogleError } from "../_shared/google.ts";
import { disconnectGoogle, type GoogleGrantDeps, TOKEN_PURPOSE } from "../_shared/google-grant.ts";
import { type Route, type Routes, readValid } from "../_shared/http.ts";
import type { UserToken } from "../_shared/user-tokens.ts";
import { NewConnection, Switches } from "./inputs.ts";

export interface GoogleRouteDeps extends GoogleGrantDeps {
  userToken: UserToken;
  rpc: UserRpc;
}

const BODY_LIMIT = 10_000;

function passOn(body: unknown, status = 200): Response {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return new Response(text, { status, headers: { "content-type": "application/json" } });
}

/** Why a token that was just given cannot be used. */
function refusalOf(error: unknown): unknown {
  if (!(error instanceof GoogleError)) return error;
  if (error.fault === "revoked") {
    return new ApiError(422, "grant_refused", "Google does not take this token", {
      hint: "Send the provider's refresh token of a sign-in with access_type=offline and prompt=consent.",
    });
  }
  // The fault is in our settings, and told in the log.
  if (error.code === "client_refused") return error;
  return new ApiError(503, "google_unavailable", "Google does not answer", {
    hint: "Try again in a minute.",
  });
}

export function googleRoutes(deps: GoogleRouteDeps): Routes {
  const configured = () => {
    const { sealer, google } = deps;
    if (sealer && google) return { sealer, google };
    throw new ApiError(503, "calendar_not_configured", "Calendars cannot be connected here", {
      hint: "The operator sets INTEGRATIONS_KEYS, GOOGLE_CLIENT_ID and GOOGLE_CLIENT_SECRET.",
    });
  };

  const status: Route = async (request) =>
    passOn(await deps.rpc(await deps.userToken(request), "google_connection", {}));

  const connect: Route = async (request) => {
    const token = await deps.userToken(request);
    const { sealer, google } = configured();
    const { refresh_token } = await readValid(request, NewConnection, BODY_LIMIT);
    const { professional_id } = JSON.parse(await deps.rpc(token, "begin_google_connection", {}));
    const access = await google.refresh(refresh_token).catch((error: unknown) => {
      throw refusalOf(error);
    });
    if (!access.hasScope) {
      throw new ApiError(422, "scope_missing", "The token does not let write events", {
        hint: "Ask for https://www.googleapis.com/auth/calendar.events; the professional can leave it out.",
      });
    }
    const of = { professional_id, purpose: TOKEN_PURPOSE };
    const sealed_token = await sealer.seal(access.refreshToken ?? refresh_token, of);
    const stored = await deps
      .serverRpc("store_google_connection", { professional_id, sealed_token })
      .catch((error: unknown) => {
        throw (error instanceof ServerRpcError && error.refusal) || error;
      });
    return passOn(stored, 201);
  };

  const change: Route = async (request) => {
    const token = await deps.userToken(request);
    const switches = await readValid(request, Switches, BODY_LIMIT);
    return passOn(await deps.rpc(token, "update_google_connection", switches));
  };

  const disconnect: Route = async (request) => {
    const token = await deps.userToken(request);
    const { professional_id } = JSON.parse(await deps.rpc(token, "begin_google_disconnection", {}));
    return Response.json({ revoked: await disconnectGoogle(professional_id, deps) });
  };

  return { google: { GET: status, POST: connect, PATCH: change, DELETE: disconnect } };
}
