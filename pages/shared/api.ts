/** The API that the build was made for. */
import { type Client, type ClientOptions, createClient } from "../../client/src/index.ts";

export { ApiError, type Client, isCode } from "../../client/src/index.ts";

const { VITE_API_URL, VITE_PUBLISHABLE_KEY } = import.meta.env;

export const connect = (options: ClientOptions): Client =>
  createClient(VITE_API_URL, VITE_PUBLISHABLE_KEY, options);

/** As the public, whoever is signed in on another page of this host. */
export const connectPublicly = (): Client => connect({ accessToken: async () => null });
