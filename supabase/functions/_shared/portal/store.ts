/** What the portal functions ask of the database: RPCs that only the service role may execute. */
import { type ServerRpc, ServerRpcError } from "../data-api.ts";

/**
 * A client that a code goes to, at the address the professional has stored; made up, and not to be told
 * apart until a code is stored for it, where the address is nobody's.
 */
export interface Recipient {
  client_id: string;
  generation: number;
  email: string;
  professional_name: string;
}

/** Seconds to wait when a limit is reached, else whom the code is for. */
export type StartedCode =
  | { retry_after: number; recipient: null }
  | { retry_after: null; recipient: Recipient };

/** An attempt that was counted: on which code, and whose. Made up where no code can be right. */
export interface Attempt {
  client_id: string;
  generation: number;
}

/** Seconds to wait when a limit is reached, else the attempt. */
export type StartedVerification =
  | { retry_after: number; client_id: null; generation: null }
  | ({ retry_after: null } & Attempt);

export interface PortalSession {
  session_id: string;
  /** Unix seconds, by the database's clock, which is the one that ends the session. */
  issued_at: number;
  expires_at: number;
  /** The one booking that the session is for; null: all that is the client's. */
  booking_id: string | null;
  /** Without the address in a session for one booking. */
  client: { id: string; name: string; email?: string };
  professional: {
    id: string;
    full_name: string;
    username: string;
    time_zone: string;
    currency: string;
  };
}

export interface PortalStore {
  startCode(
    professionalId: string,
    email: string,
    ip: string | null,
    ipLimit: number,
  ): Promise<StartedCode>;
  /** Makes a code valid, or with null withdraws it; false when it is not the recipient's newest. */
  setCode(professionalId: string, to: Recipient, codeHmac: string | null): Promise<boolean>;
  startVerification(
    professionalId: string,
    email: string,
    ip: string | null,
    ipLimit: number,
  ): Promise<StartedVerification>;
  /** Null unless the code is the one that the attempt was counted on. */
  finishVerification(
    professionalId: string,
    attempt: Attempt,
    codeHmac: string,
  ): Promise<PortalSession | null>;
  /** Counts a use of a mailed link: seconds to wait when a limit is reached, else 0. */
  countLinkUse(ip: string | null, ipLimit: number): Promise<number>;
  /** Null unless the link still counts and the booking has not ended. */
  startBookingSession(bookingId: string, linkEpoch: number): Promise<PortalSession | null>;
  /**
   * Ends the hold of a booking or order: what it became, or null when the link counts no more. What is
   * in the way, such as a time that is taken by now, is an `ApiError` to pass on.
   */
  confirmHold(kind: "booking" | "order", id: string, linkEpoch: number): Promise<object | null>;
  endSession(sessionId: string): Promise<void>;
}

/** The store behind the project's API. */
export function portalStore(rpc: ServerRpc): PortalStore {
  return {
    startCode: (professional_id, email, ip, ip_limit) =>
      rpc("start_portal_code", { professional_id, email, ip: ip ?? "", ip_limit }),
    setCode: (professional_id, { client_id, generation }, code_hmac) =>
      rpc("set_portal_code", { professional_id, client_id, generation, code_hmac }),
    startVerification: (professional_id, email, ip, ip_limit) =>
      rpc("start_portal_verification", { professional_id, email, ip: ip ?? "", ip_limit }),
    finishVerification: (professional_id, { client_id, generation }, code_hmac) =>
      rpc("finish_portal_verification", { professional_id, client_id, generation, code_hmac }),
    countLinkUse: (ip, ip_limit) => rpc("count_link_use", { ip: ip ?? "", ip_limit }),
    startBookingSession: (booking_id, link_epoch) =>
      rpc("start_booking_session", { booking_id, link_epoch }),
    async confirmHold(kind, id, link_epoch) {
      try {
        return await rpc("confirm_hold", { kind, id, link_epoch });
      } catch (error) {
        if (error instanceof ServerRpcError) {
          if (error.isNotFound) return null;
          if (error.refusal) throw error.refusal;
        }
        throw error;
      }
    },
    endSession: (session_id) => rpc("end_portal_session", { session_id }),
  };
}
