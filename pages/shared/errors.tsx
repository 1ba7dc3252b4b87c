/** What went wrong, in the visitor's words. */
import type { ComponentChildren } from "preact";
import { ApiError } from "./api.ts";
import { language, shared } from "./texts/index.ts";
import { Button, Notice } from "./ui.tsx";

const texts = shared.errors;

/** One sentence. What has no text here is the client's own, where the visitor reads English. */
export function sentence(error: unknown): string {
  if (!(error instanceof ApiError)) return texts.unknown;
  if (error.isNetwork) return texts.network;
  if (error.code === "validation_failed") return texts.fields;
  // A code may come from an address, and be any word.
  const known = Object.hasOwn(texts.codes, error.code) && texts.codes[error.code];
  if (known) return known;
  if (error.code === "rate_limit_exceeded")
    return texts.limit(Math.ceil((error.retryAfter ?? 0) / 60));
  if (error.status === 429) return texts.busy;
  return language === "en" && error.status < 500 ? error.sentence : texts.unknown;
}

/** By argument or column: what is wrong with it. */
export function fieldErrors(error: unknown): Record<string, string> {
  if (!(error instanceof ApiError)) return {};
  return Object.fromEntries(
    error.columns.map((name) => [name, texts.byField[name] ?? sentence(error)]),
  );
}

type FailureProps = { error: unknown; again?: () => void; children?: ComponentChildren };

/** An error where it happened, with a way to try again. */
export function Failure({ error, again, children }: FailureProps) {
  if (!error) return null;
  return (
    <Notice kind="error">
      <p>{sentence(error)}</p>
      {children}
      {again && <Button onClick={again}>{shared.tryAgain}</Button>}
    </Notice>
  );
}
