/**
 * POST /functions/v1/account/delete {confirmation}: the caller's account goes, with everything in it.
 * POST /functions/v1/account/dispatch: the scheduler; finishes what was broken off.
 *
 * What is to be done stands in a row that outlives the account, and each step may be done twice.
 */
import type { ServerRpc, UserRpc } from "../_shared/data-api.ts";
import { type DispatchRouteDeps, dispatchRoute, drain } from "../_shared/dispatcher.ts";
import { createRouter, type Handler, type Route, readValid } from "../_shared/http.ts";
import type { MailProvider } from "../_shared/mail.ts";
import type { UserToken } from "../_shared/user-tokens.ts";
import type { Language } from "../mail/texts/index.ts";
import { deletedMail } from "./deleted-mail.ts";
import { BODY_LIMIT, Deletion } from "./inputs.ts";
import type { DeleteUser } from "./users.ts";

export interface AccountDeps extends DispatchRouteDeps {
  userToken: UserToken;
  userRpc: UserRpc;
  serverRpc: ServerRpc;
  /** Ends what the account's owner has granted us at Google. */
  disconnectGoogle(id: string): Promise<unknown>;
  deleteUser: DeleteUser;
  deliver: MailProvider["deliver"];
  now(): Date;
  pause(milliseconds: number): Promise<void>;
}

/** An account that is ours to delete for a minute. */
interface Claim {
  account_id: string;
  claim_token: string;
  /** Null where no mail may go. */
  recipient: string | null;
  language: Language;
}

export function createHandler(deps: AccountDeps): Handler {
  const claim = (account_id: string | null, max_count: number) =>
    deps.serverRpc<"claim_account_deletions", Claim[]>("claim_account_deletions", {
      account_id,
      max_count,
    });

  const finish = async ({ account_id, claim_token, recipient, language }: Claim): Promise<void> => {
    // While the token is still there; the account goes whether Google answers or not.
    await deps.disconnectGoogle(account_id).catch(() => {});
    await deps.deleteUser(account_id);
    let mailed = true;
    if (recipient !== null) {
      // By its id, so that a second try is no second mail.
      const { result } = await deps.deliver(deletedMail(recipient, language), account_id);
      mailed = result === "sent" || result === "refused";
    }
    await deps.serverRpc("finish_account_deletion", { account_id, claim_token, mailed });
  };

  const deleteAccount: Route = async (request) => {
    const token = await deps.userToken(request);
    const { confirmation } = await readValid(request, Deletion, BODY_LIMIT);
    const answer = await deps.userRpc(token, "request_account_deletion", { confirmation });
    const { account_id, goes } = JSON.parse(answer) as { account_id: string; goes: object };
    const [claimed] = await claim(account_id, 1);
    // Somebody is at it already.
    if (!claimed) return Response.json({ deleted: false, goes }, { status: 202 });
    await finish(claimed);
    return Response.json({ deleted: true, goes });
  };

  return createRouter(deps, {
    delete: { POST: deleteAccount },
    dispatch: {
      POST: dispatchRoute(deps, (onError) =>
        drain<Claim>(
          { claim: (count) => claim(null, count), work: finish, slots: 2, pollMs: 1_000 },
          { onError, now: deps.now, pause: deps.pause },
        ),
      ),
    },
  });
}
