/** Users of the auth service, by its admin API. */
import { type PlatformKeys, secretKeyHeaders } from "../_shared/data-api.ts";

/** Deletes a user with everything that refers to them; also when they are gone already. */
export type DeleteUser = (id: string) => Promise<void>;

export function userDeleter(env: PlatformKeys, fetcher = fetch): DeleteUser {
  return async (id) => {
    const answer = await fetcher(`${env.supabaseUrl}/auth/v1/admin/users/${id}`, {
      method: "DELETE",
      headers: { ...secretKeyHeaders(env.secretKey), "content-type": "application/json" },
      body: JSON.stringify({ should_soft_delete: false }),
    });
    const text = await answer.text();
    if (answer.ok) return;
    const [, code = "none"] = /"error_code": *"(\w+)"/.exec(text) ?? [];
    // Any other 404 is a wrong address, at which nobody was deleted.
    if (answer.status === 404 && code === "user_not_found") return;
    throw new Error(`deleting a user failed with status ${answer.status}, code ${code}`);
  };
}
