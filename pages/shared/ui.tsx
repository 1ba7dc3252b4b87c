/** What all pages are made of. */
import type { AllHTMLAttributes, ButtonHTMLAttributes, ComponentChildren, JSX } from "preact";
import { useEffect, useId, useRef } from "preact/hooks";
import { addressOf, type Changes, goTo } from "./route.ts";
import { LANGUAGES, type Language, language, shared } from "./texts/index.ts";

type Props<Own = object> = Own & { children?: ComponentChildren };

type PageProps = Props<{ brand?: ComponentChildren; wide?: boolean }>;

/** The frame of a page: whose it is, where its heading does not say so, and languages above, its content below. */
export function Page({ children, brand, wide }: PageProps) {
  return (
    <>
      <header class="top">
        <div class="brand">{brand}</div>
        <nav aria-label={shared.otherLanguage}>
          {(Object.keys(LANGUAGES) as Language[]).map((name) => (
            <a
              key={name}
              href={addressOf({ lang: name })}
              lang={name}
              hreflang={name}
              aria-current={name === language ? "true" : undefined}
            >
              {LANGUAGES[name]}
            </a>
          ))}
        </nav>
      </header>
      <main class={wide ? "page wide" : "page"}>{children}</main>
    </>
  );
}

type LinkProps = Props<{ to: Changes; class?: string; "aria-current"?: "page" | undefined }>;

/** To a step of this page; like any link it opens in another tab too. */
export function Link({ to, children, ...rest }: LinkProps) {
  return (
    <a
      {...rest}
      href={addressOf(to)}
      onClick={(event) => {
        if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
        event.preventDefault();
        goTo(to);
      }}
    >
      {children}
    </a>
  );
}

type HeadingProps = Props<{ title?: string; level?: 1 | 2 | 3 }>;

let headingsSeen = 0;

/** The heading of a step. It takes the focus when the step is entered, but not when the page is loaded. */
export function Heading({ children, title, level = 1 }: HeadingProps) {
  const heading = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    if (headingsSeen++ > 0) heading.current?.focus();
  }, []);
  useEffect(() => {
    if (title) document.title = title;
  }, [title]);
  const Tag = `h${level}` as const;
  return (
    <Tag ref={heading} tabIndex={-1} dir="auto">
      {children}
    </Tag>
  );
}

interface ButtonProps extends Omit<ButtonHTMLAttributes<HTMLButtonElement>, "onClick"> {
  kind?: "primary" | "plain" | "danger" | "link";
  /** Under way: it keeps the focus and does nothing. */
  busy?: boolean | undefined;
  onClick?: () => void;
}

export function Button({ kind = "plain", busy = false, onClick, children, ...rest }: ButtonProps) {
  return (
    <button
      type="button"
      {...rest}
      class={`button ${kind}`}
      aria-disabled={busy}
      aria-busy={busy}
      onClick={(event) => {
        if (busy) event.preventDefault();
        else onClick?.();
      }}
    >
      {children}
      {busy && <span class="spinner" aria-hidden="true" />}
    </button>
  );
}

type Native = "type" | "autocomplete" | "inputMode" | "required" | "min";

interface FieldProps extends Pick<AllHTMLAttributes<HTMLInputElement>, Native> {
  name: string;
  label: string;
  value: string;
  onValue: (value: string) => void;
  /** Says that it may stay empty. */
  optional?: boolean;
  lines?: number;
  hint?: string | undefined;
  error?: string | undefined;
}

export function Field(props: FieldProps) {
  const { name, label, value, onValue, optional, lines, hint, error, ...rest } = props;
  const id = useId();
  const said = [hint && `${id}-hint`, error && `${id}-error`].filter(Boolean).join(" ");
  const common = {
    ...rest,
    id,
    name,
    value,
    dir: "auto" as const,
    "aria-invalid": error !== undefined,
    "aria-describedby": said || undefined,
    onInput: (event: { currentTarget: { value: string } }) => onValue(event.currentTarget.value),
  };
  return (
    <div class="field">
      <label for={id}>
        {label}
        {optional && <span class="faint"> · {shared.optional}</span>}
      </label>
      {lines ? (
        <textarea rows={lines} {...(common as JSX.IntrinsicElements["textarea"])} />
      ) : (
        <input {...(common as JSX.IntrinsicElements["input"])} />
      )}
      <p class="faint" id={`${id}-hint`} children={hint} />
      <p class="wrong" id={`${id}-error`} children={error} />
    </div>
  );
}

/** A term and what it is; a row that is not there is left out. */
export type Fact = [term: ComponentChildren, is: ComponentChildren, kind?: "total"] | false | null;

export function Facts({ rows, plain = false }: { rows: Fact[]; plain?: boolean }) {
  return (
    <dl class={plain ? "facts" : "facts card"}>
      {rows
        .filter((row) => !!row)
        .map(([term, is, kind], index) => (
          <div key={index} class={kind}>
            <dt dir="auto">{term}</dt>
            <dd dir="auto">{is}</dd>
          </div>
        ))}
    </dl>
  );
}

/** An error is read out at once, anything else when there is time. */
export function Notice({ kind = "info", children }: Props<{ kind?: "info" | "error" | "good" }>) {
  return (
    <div class={`notice ${kind}`} role={kind === "error" ? "alert" : "status"}>
      {children}
    </div>
  );
}

export function Loading() {
  return (
    <p class="loading" role="status">
      <span class="spinner" aria-hidden="true" /> {shared.loading}
    </p>
  );
}

type DialogProps = Props<{ title: string; onClose: () => void }>;

/** A question on top of the page; Escape closes it, and in most browsers a click beside it. */
export function Dialog({ title, onClose, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => dialog.current?.showModal(), []);
  return (
    <dialog ref={dialog} aria-labelledby={id} closedby="any" onClose={onClose}>
      <h2 id={id} dir="auto">
        {title}
      </h2>
      {children}
    </dialog>
  );
}

/** An image of any address, where the build shows them. */
export function Picture({ src }: { src: string | null | undefined }) {
  if (import.meta.env.VITE_IMAGES !== "1" || !src) return null;
  return <img class="picture" src={src} alt="" loading="lazy" referrerpolicy="no-referrer" />;
}

/** People's words: in their own direction, with their own line breaks. */
export function Words({ children }: { children: string | null | undefined }) {
  return children ? (
    <p class="words" dir="auto">
      {children}
    </p>
  ) : null;
}

/** As RFC 6068 has it: whatever could end the address is encoded, the sign in its middle is not. */
const mailto = (email: string) => `mailto:${encodeURIComponent(email).replaceAll("%40", "@")}`;

/** Links to call and to write to somebody. */
export const Reach = ({ phone, email }: Record<"phone" | "email", string | null | undefined>) => (
  <>
    {phone && <a href={`tel:${phone.replace(/[^+\d]/g, "")}`}>{phone}</a>}
    {email && <a href={mailto(email)}>{email}</a>}
  </>
);

/** Says a change to who cannot see it. */
export function announce(text: string): void {
  const region = document.getElementById("heard");
  if (region) region.textContent = text;
}
