/** What has become of a booking or order: also after a reload, and on the way back from the payment page. */
import { useEffect, useState } from "preact/hooks";
import { isCode } from "../shared/api.ts";
import { type Action, useAction } from "../shared/asking.ts";
import { Failure } from "../shared/errors.tsx";
import { momentText, money, timeOf, visitorZone } from "../shared/format.ts";
import { addressOf, goTo } from "../shared/route.ts";
import { when } from "../shared/starts.tsx";
import { writeStored } from "../shared/store.ts";
import { Button, type Fact, Facts, Heading, Link, Loading, Notice } from "../shared/ui.tsx";
import {
  type BookingPage,
  draftOf,
  isMadeHere,
  look,
  type Made,
  madeBefore,
  paymentPage,
} from "./api.ts";
import { downloadCalendarFile } from "./calendar-file.ts";
import { START } from "./start.ts";
import { texts } from "./texts/index.ts";

const said = texts.done;

/** When we look again for a payment: each look counts as a try of the public, so there are few. */
const LOOKS_AFTER_MS = [500, 2500, 5000, 10_000];

interface DoneStepProps {
  page: BookingPage;
  kind: Made["kind"];
  id: string;
  /** With which the payment page sent people back. */
  payment: string | null;
}

type State = "over" | "cancelled" | "waiting" | "slow" | "pay" | "check" | "asked" | "done";

function stateOf({ kind, receipt, wasHeld }: Made, payment: string | null): State {
  const { status, expires_at, checkout_token } = receipt;
  // Who has paid for a hold that was over gets the money back.
  if (status === "cancelled") return wasHeld && payment !== "success" ? "over" : "cancelled";
  if (expires_at && checkout_token) return payment === "success" ? "waiting" : "pay";
  if (expires_at) return "check";
  return kind === "booking" && status === "pending" ? "asked" : "done";
}

/** As it was when it was made; of a hold, as it is now. */
function useMade({ kind, id, payment }: DoneStepProps) {
  const [made, setMade] = useState(() => madeBefore(kind, id));
  const [isSlow, setSlow] = useState(false);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout>;
    const follow = async (from: Made, [delay, ...later]: number[]) => {
      if (delay === undefined) return setSlow(true);
      await new Promise((resolve) => {
        timer = setTimeout(resolve, delay);
      });
      const now = await look(from).catch(() => from);
      setMade(now);
      if (stateOf(now, payment) === "waiting") await follow(now, later);
    };
    if (made?.receipt.expires_at && !isMadeHere(id)) {
      void follow(made, payment === "success" ? LOOKS_AFTER_MS : [0]);
    }
    return () => clearTimeout(timer);
  }, []);
  return { made, setMade, isSlow };
}

export function DoneStep(props: DoneStepProps) {
  const { made, ...rest } = useMade(props);
  if (made) return <Outcome {...props} {...rest} made={made} />;
  const title = props.payment === "success" ? said.waiting : said.forgottenTitle;
  return (
    <>
      <Heading title={title}>{title}</Heading>
      <p>{said.forgotten}</p>
      <Link to={START}>{said.more}</Link>
    </>
  );
}

interface OutcomeProps extends DoneStepProps {
  made: Made;
  setMade: (made: Made) => void;
  isSlow: boolean;
}

function Outcome({ page, payment, made, setMade, isSlow }: OutcomeProps) {
  const { full_name: name, time_zone } = page.professional;
  const { kind, receipt, input } = made;
  const looking = useAction(async () => setMade(await look(made)));
  const paying = useAction(async () => {
    const back = (outcome: string) => addressOf({ payment: outcome });
    location.assign(await paymentPage(made, back("success"), back("cancel")));
    // Until somebody comes back to this page, which a browser may have kept as it was.
    await new Promise((resolve) => addEventListener("pageshow", resolve, { once: true }));
  });
  const isOver = isCode(paying.error, "hold_expired");
  const now = stateOf(made, payment);
  const state = isOver ? "over" : now === "waiting" && isSlow ? "slow" : now;
  const until = receipt.expires_at ? timeOf(receipt.expires_at, visitorZone) : "";
  const booked: [string, string] = [said.confirmed, said.confirmedText(name)];
  const words: Record<State, [title: string, text: string]> = {
    over: [said.over, said.overText],
    cancelled: [said.cancelled, said.cancelledText],
    waiting: [said.waiting, said.waitingText],
    slow: [said.waiting, said.waitingLong],
    pay: [said.pay, said.payText(until)],
    check: [said.check, said.checkText(input.client_email, until)],
    asked: [said.asked, said.askedText(name)],
    done: kind === "booking" ? booked : [said.ordered, said.orderedText(name)],
  };
  const [title, text] = words[state];
  const again = { run: async () => goTo(beginAgain(made, page)), busy: false };
  const buttons: Partial<Record<State, [string, Pick<Action<[]>, "run" | "busy">]>> = {
    over: [said.again, again],
    cancelled: [said.again, again],
    slow: [said.look, looking],
    pay: [said.payNow(money(receipt.amount_due ?? 0, receipt.currency)), paying],
    check: [said.look, looking],
  };
  const [label, { run, busy } = again] = buttons[state] ?? [];
  const isSettled = state === "asked" || state === "done";
  return (
    <>
      <div class={isSettled ? "stack settled" : "stack"}>
        {/* By its words, so that new ones are said. */}
        <Heading key={title} title={title}>
          {title}
        </Heading>
        <p role="status">{text}</p>
        {state === "pay" && payment === "cancel" && <Notice>{said.backUnpaid}</Notice>}
        {state === "waiting" && <Loading />}
      </div>
      <Facts rows={facts(made, time_zone)} />
      {isSettled && <p>{mailWords(made)}</p>}
      {!isOver && <Failure error={paying.error ?? looking.error} />}
      <div class="actions">
        {label && (
          <Button kind="primary" busy={busy} onClick={run}>
            {label}
          </Button>
        )}
        {isSettled && kind === "booking" && (
          <Button onClick={() => downloadCalendarFile(receipt, page)}>{said.calendar}</Button>
        )}
        <Link to={START}>{said.more}</Link>
      </div>
    </>
  );
}

/** The step before, with what was typed. */
function beginAgain({ kind, input }: Made, { professional, products }: BookingPage) {
  const { client_name, client_email, client_phone = "", notes = "" } = input;
  writeStored(draftOf(professional), { client_name, client_email, client_phone, notes });
  if (kind === "booking") return { ...START, service: input.service_id };
  const { product_id = "", quantity = 1 } = input.items[0] ?? {};
  const isIt = ({ id }: { id: string }) => id === product_id;
  const product = products.find((product) => isIt(product) || product.variants.some(isIt));
  const chosen = { variant: product_id, quantity: String(quantity) };
  return { ...START, product: product?.id ?? null, ...chosen };
}

function facts({ kind, receipt }: Made, zone: string): Fact[] {
  const text = (amount: number) => money(amount, receipt.currency);
  if (kind === "booking") {
    const times = when(receipt.starts_at, zone);
    const price = text(receipt.price);
    return [[texts.what, receipt.service_name], ...times, [texts.price, price, "total"]];
  }
  const { number, items, total } = receipt;
  const lines = items.map((line): Fact => [`${line.quantity} × ${line.name}`, text(line.total)]);
  return [[said.number, number], ...lines, [texts.total, text(total), "total"]];
}

function mailWords({ kind, receipt, input }: Made): string {
  const mail = said.mail(input.client_email);
  if (kind === "order") return mail;
  const { cancel_until: until } = receipt;
  const isInTime = Date.parse(until) > Date.now();
  return `${mail} ${isInTime ? said.mailLink(momentText(until, visitorZone)) : said.mailLinkLate}`;
}
