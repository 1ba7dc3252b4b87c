/** What has become of a booking or order: also after a reload, and on the way back from the payment page. */
import { useEffect, useState } from "preact/hooks";
import type { BookingPage } from "../../client/src/database.ts";
import { isCode, publicApi } from "../shared/api.ts";
import { type Action, useAction } from "../shared/asking.ts";
import { Failure } from "../shared/errors.tsx";
import { momentText, money, timeOf, visitorZone } from "../shared/format.ts";
import { addressOf, goTo, leaveFor, START } from "../shared/route.ts";
import { when } from "../shared/starts.tsx";
import { Button, type Fact, Facts, Heading, Link, Notice } from "../shared/ui.tsx";
import { downloadCalendarFile } from "./calendar-file.ts";
import { keepNotes } from "./client-fields.tsx";
import { isMadeHere, look, type Made, madeBefore } from "./made.ts";
import { texts } from "./texts/index.ts";

const said = texts.done;

/** When we look again for a payment: each look counts as a try of the public, so there are few. */
const LOOKS_AFTER_MS = [500, 2500, 5000, 10_000];

type DoneStepProps = { page: BookingPage; kind: Made["kind"]; id: string; query: URLSearchParams };

/** As it was when it was made; of a hold, as it is now. */
export function DoneStep({ page, kind, id, query }: DoneStepProps) {
  const payment = query.get("payment");
  const [made, setMade] = useState(() => madeBefore(kind, id));
  const [looks, setLooks] = useState(0);
  const delay = (payment === "success" ? LOOKS_AFTER_MS : [0])[looks];
  useEffect(() => {
    if (delay === undefined || !made?.receipt.expires_at || isMadeHere(id)) return;
    const timer = setTimeout(async () => {
      setMade(await look(made).catch(() => made));
      setLooks(looks + 1);
    }, delay);
    return () => clearTimeout(timer);
  }, [delay]);
  if (made) return <Outcome {...{ page, payment, made, onLook: setMade }} />;
  const title = payment === "success" ? said.waiting : said.forgottenTitle;
  return (
    <>
      <Heading title={title}>{title}</Heading>
      <p>{said.forgotten}</p>
      <Link to={START}>{said.more}</Link>
    </>
  );
}

type State = "over" | "waiting" | "pay" | "check" | "asked" | "ordered" | "booked";

function stateOf({ kind, receipt }: Made, payment: string | null): State {
  const { status, expires_at, checkout_token } = receipt;
  if (status === "cancelled") return "over";
  if (expires_at && checkout_token) return payment === "success" ? "waiting" : "pay";
  if (expires_at) return "check";
  if (kind === "order") return "ordered";
  return status === "pending" ? "asked" : "booked";
}

type OutcomeProps = {
  page: BookingPage;
  payment: string | null;
  made: Made;
  onLook: (now: Made) => void;
};

function Outcome({ page, payment, made, onLook }: OutcomeProps) {
  const { full_name: name, time_zone } = page.professional;
  const { kind, receipt, input } = made;
  const again = useAction(async () => {
    keepNotes(page.professional, input.notes ?? "");
    goTo({ ...START, ...stepOf(made) });
  });
  const saving = useAction(async () => kind === "booking" && downloadCalendarFile(receipt, page));
  const looking = useAction(async () => onLook(await look(made)));
  const paying = useAction(async () => {
    const { url } = await publicApi.functions.payments.checkout({
      order_id: (kind === "booking" ? receipt.order_id : receipt.id) ?? "",
      token: receipt.checkout_token ?? "",
      success_url: addressOf({ payment: "success" }),
      cancel_url: addressOf({ payment: "cancel" }),
    });
    await leaveFor(url);
  });
  const isOver = isCode(paying.error, "hold_expired");
  const state = isOver ? "over" : stateOf(made, payment);
  const isSettled = ["asked", "ordered", "booked"].includes(state);
  const until = receipt.expires_at ? timeOf(receipt.expires_at, visitorZone) : "";
  const price = money(receipt.amount_due ?? 0, receipt.currency);
  const shown: Record<State, [title: string, text: string, label?: string, action?: Action<[]>]> = {
    over: [said.over, said.overText, said.again, again],
    waiting: [said.waiting, said.waitingText, said.look, looking],
    pay: [said.pay, said.payText(until), said.payNow(price), paying],
    check: [said.check, said.checkText(input.client_email ?? "", until), said.look, looking],
    asked: [said.asked, said.askedText(name)],
    ordered: [said.ordered, said.orderedText(name)],
    booked: [said.confirmed, said.confirmedText(name)],
  };
  const [title, text, label, action] = shown[state];
  return (
    <>
      <div class={isSettled ? "stack settled" : "stack"}>
        {/* By its words, so that new ones are said. */}
        <Heading key={title} title={title}>
          {title}
        </Heading>
        <p role="status">{text}</p>
        {state === "pay" && payment === "cancel" && <Notice>{said.backUnpaid}</Notice>}
      </div>
      <Facts rows={facts(made, time_zone)} />
      {isSettled && <p>{mailWords(made)}</p>}
      {!isOver && <Failure error={paying.error ?? looking.error ?? saving.error} />}
      <div class="actions">
        {action && (
          <Button kind="primary" busy={action.busy} onClick={action.run}>
            {label}
          </Button>
        )}
        {isSettled && kind === "booking" && <Button onClick={saving.run}>{said.calendar}</Button>}
        <Link to={START}>{said.more}</Link>
      </div>
    </>
  );
}

/** The step at which it was chosen. */
function stepOf({ kind, input }: Made): Record<string, string> {
  if (kind === "booking") return { service: input.service_id };
  const [line] = input.items;
  return line ? { product: line.product_id, quantity: String(line.quantity) } : {};
}

function facts({ kind, receipt }: Made, zone: string): Fact[] {
  const text = (amount: number) => money(amount, receipt.currency);
  if (kind === "booking") {
    const price: Fact = [texts.price, text(receipt.price), "total"];
    return [[texts.what, receipt.service_name], ...when(receipt.starts_at, zone), price];
  }
  const { number, items, total } = receipt;
  const lines = items.map((line): Fact => [`${line.quantity} × ${line.name}`, text(line.total)]);
  return [[said.number, number], ...lines, [texts.total, text(total), "total"]];
}

function mailWords({ kind, receipt, input }: Made): string {
  const mail = said.mail(input.client_email ?? "");
  if (kind === "order" || Date.parse(receipt.cancel_until) < Date.now()) return mail;
  return `${mail} ${said.mailLink(momentText(receipt.cancel_until, visitorZone))}`;
}
