/** The API that the build was made for. */
import { type ApiClient, type ClientOptions, createClient } from "../../client/src/index.ts";

export { type ApiClient, ApiError, isCode } from "../../client/src/index.ts";

const { VITE_API_URL, VITE_PUBLISHABLE_KEY } = import.meta.env;

export const connect = (options: ClientOptions): ApiClient =>
  createClient(VITE_API_URL, VITE_PUBLISHABLE_KEY, options);

/** As the public, whoever is signed in on another page of this host. */
export const connectPublicly = (): ApiClient => connect({ accessToken: async () => null });
