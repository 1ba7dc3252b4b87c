/** Asks the process that has the stack with pages, and its fake Stripe. */
import { inject } from "vitest";
import type {} from "../browser/global-setup.ts";
import type { PagesStack } from "./pages-stack.ts";
import type { FakeStripe } from "./stripe.ts";

export type PagesAddresses = Pick<PagesStack, "env" | "checkoutUrl">;

export async function askControl<T>(path: string, body: object = {}): Promise<T> {
  const response = await fetch(`${inject("pagesControl")}${path}`, {
    method: "POST",
    body: JSON.stringify(body),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(`${path}: ${answer}`);
  return answer as T;
}

type Remote<T> = {
  [K in keyof T as T[K] extends (...args: never[]) => unknown ? K : never]: T[K] extends (
    ...args: infer A
  ) => infer R
    ? (...args: A) => Promise<Awaited<R>>
    : never;
};

/** What the fake can be told, such as `stripe.expire(session)`; arguments and answers are JSON. */
export const stripe = new Proxy({} as Remote<FakeStripe>, {
  get:
    (_, method) =>
    (...args: unknown[]) =>
      askControl("/stripe", { method, args }),
});
