/** What went wrong, in the visitor's words. */
import type { ComponentChildren } from "preact";
import { ApiError } from "./api.ts";
import { language, shared } from "./texts/index.ts";
import { Button, Notice } from "./ui.tsx";

const texts = shared.errors;

function limit(error: ApiError): string | undefined {
  const isLimit = error.status === 429;
  if (!isLimit) return undefined;
  const { code, retryAfter = 0 } = error;
  return code === "rate_limit_exceeded" ? texts.limit(Math.ceil(retryAfter / 60)) : texts.busy;
}

/** A code may come from an address, and be any word. */
const said = ({ code }: ApiError) =>
  Object.hasOwn(texts.codes, code) ? texts.codes[code] : undefined;

/** One sentence. What has no text here is the client's own, where the visitor reads English. */
export function sentence(error: unknown): string {
  if (!(error instanceof ApiError)) return texts.unknown;
  if (error.isNetwork) return texts.network;
  if (error.status >= 500 && !said(error)) return texts.unknown;
  if (error.code === "validation_failed") return texts.fields;
  const known = limit(error) ?? said(error);
  return known ?? (language === "en" ? error.sentence : texts.unknown);
}

/** By argument or column: what is wrong with it. */
export function fieldErrors(error: unknown): Record<string, string> {
  if (!(error instanceof ApiError)) return {};
  return Object.fromEntries(
    error.columns.map((name) => [name, texts.byField[name] ?? sentence(error)]),
  );
}

/** An error where it happened, with a way to try again. */
export function Failure({
  error,
  again,
  children,
}: {
  error: unknown;
  again?: () => void;
  children?: ComponentChildren;
}) {
  if (!error) return null;
  return (
    <Notice kind="error">
      <p>{sentence(error)}</p>
      {children}
      {again && <Button onClick={again}>{shared.tryAgain}</Button>}
    </Notice>
  );
}
