/** `/busy`: the professional's calendars elsewhere, by addresses that are keys to them. */
import { z } from "zod";
import { type AddressRules, checkAddress } from "../_shared/address-rules.ts";
import {
  type RpcArgs,
  type RpcName,
  type ServerRpc,
  ServerRpcError,
  type UserRpc,
} from "../_shared/data-api.ts";
import { ApiError, notFound } from "../_shared/errors.ts";
import { type Route, type Routes, readValid } from "../_shared/http.ts";
import type { Sealer } from "../_shared/sealed.ts";
import type { UserToken } from "../_shared/user-tokens.ts";
import { ADDRESS_PURPOSE } from "./busy-sync.ts";
import { NewCalendar } from "./inputs.ts";

export interface BusyRouteDeps extends AddressRules {
  userToken: UserToken;
  rpc: UserRpc;
  serverRpc: ServerRpc;
  /** Undefined where the project has no keys for it. */
  sealer: Sealer | undefined;
}

const BODY_LIMIT = 20_000;
const LOOK_UP_MS = 10_000;

/** What calendar programs call an address that they are to subscribe to. */
const asWebAddress = (url: string) => url.replace(/^webcals?:\/\//i, "https://");

function passOn(body: unknown, status = 200): Response {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return new Response(text, { status, headers: { "content-type": "application/json" } });
}

export function busyRoutes(deps: BusyRouteDeps): Routes {
  const user =
    (
      run: (
        call: <Name extends RpcName>(name: Name, args: RpcArgs<Name>) => Promise<string>,
        request: Request,
        id: string,
      ) => Promise<Response>,
    ): Route =>
    async (request, { id = "" }) => {
      const token = await deps.userToken(request);
      if (id !== "" && !z.guid().safeParse(id).success) throw notFound();
      return run((name, args) => deps.rpc(token, name, args), request, id);
    };

  const sealer = (): Sealer => {
    if (deps.sealer) return deps.sealer;
    throw new ApiError(503, "calendar_not_configured", "Calendars cannot be connected here", {
      hint: "The operator sets INTEGRATIONS_KEYS.",
    });
  };

  return {
    busy: {
      GET: user(async (call) => passOn(await call("busy_calendars", {}))),
      POST: user(async (call, request) => {
        const { seal } = sealer();
        const input = await readValid(request, NewCalendar, BODY_LIMIT);
        const { professional_id } = JSON.parse(await call("begin_busy_calendar", {}));
        const url = asWebAddress(input.url);
        await checkAddress(url, deps, AbortSignal.timeout(LOOK_UP_MS));
        const stored = await deps
          .serverRpc("store_busy_calendar", {
            professional_id,
            name: input.name,
            sealed_address: await seal(url, { professional_id, purpose: ADDRESS_PURPOSE }),
            host: new URL(url).host,
          })
          .catch((error: unknown) => {
            throw (error instanceof ServerRpcError && error.unprocessable) || error;
          });
        return passOn(stored, 201);
      }),
    },
    "busy/:id": {
      DELETE: user(async (call, _, calendar_id) => {
        await call("delete_busy_calendar", { calendar_id });
        return new Response(null, { status: 204 });
      }),
    },
    "busy/:id/sync": {
      POST: user(async (call, _, calendar_id) => {
        sealer();
        return passOn(await call("sync_busy_calendar", { calendar_id }), 202);
      }),
    },
  };
}
