/** Keys of professionals' programs, and the tokens that they are exchanged for. */
import { type Api, bearer, request } from "./callers.ts";
import type { Professional } from "./factories.ts";

export type Access = "read" | "write";

/** A program with a key, and a token for it. */
export interface Program {
  id: string;
  key: string;
  token: string;
  api: Api;
}

/** A new key of the professional. */
export async function createKey(
  professional: Pick<Professional, "api">,
  access: Access,
  expires_at?: string,
): Promise<{ id: string; key: string }> {
  const { data, error } = await professional.api.rpc("create_api_key", {
    name: `may ${access}`,
    access,
    ...(expires_at !== undefined && { expires_at }),
  });
  if (error) throw new Error(JSON.stringify(error));
  return data as { id: string; key: string };
}

/** One request to the function, with a text as the key. */
export function exchange(key: string): Promise<Response> {
  return request("/functions/v1/token", { method: "POST", token: key });
}

export async function createProgram(
  professional: Pick<Professional, "api">,
  access: Access,
): Promise<Program> {
  const key = await createKey(professional, access);
  const response = await exchange(key.key);
  if (!response.ok) throw new Error(`${response.status}: ${await response.text()}`);
  const { access_token: token } = (await response.json()) as { access_token: string };
  return { ...key, token, api: bearer(token) };
}
