/** What has become of a booking or order: also after a reload, and on the way back from the payment page. */
import { useEffect, useState } from "preact/hooks";
import { useAction } from "../shared/action.ts";
import { isCode } from "../shared/api.ts";
import { Failure } from "../shared/errors.tsx";
import { momentText, money, timeOf, visitorZone } from "../shared/format.ts";
import { addressOf, goTo } from "../shared/route.ts";
import { writeStored } from "../shared/store.ts";
import { Button, type Fact, Facts, Heading, Link, Loading, Notice } from "../shared/ui.tsx";
import { type BookingPage, isMadeHere, look, type Made, madeBefore, paymentPage } from "./api.ts";
import { calendarFile, download } from "./calendar-file.ts";
import { when } from "./details-step.tsx";
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

type State = "over" | "cancelled" | "waiting" | "pay" | "check" | "asked" | "done";

function stateOf({ kind, receipt, wasHeld }: Made, payment: string | null): State {
  const { status, expires_at, checkout_token } = receipt;
  // Who has paid for a hold that was over gets the money back.
  if (status === "cancelled") return wasHeld && payment !== "success" ? "over" : "cancelled";
  if (expires_at && checkout_token) return payment === "success" ? "waiting" : "pay";
  if (expires_at) return "check";
  return kind === "booking" && status === "pending" ? "asked" : "done";
}

const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

/** Settles when somebody comes back to this page, which a browser may have kept as it was. */
const returned = () =>
  new Promise((resolve) => addEventListener("pageshow", resolve, { once: true }));

function useMade({ kind, id, payment }: DoneStepProps) {
  const [made, setMade] = useState(() => madeBefore(kind, id));
  const [isLong, setLong] = useState(false);
  useEffect(() => {
    let left = false;
    const follow = async (from: Made) => {
      for (const delay of payment === "success" ? LOOKS_AFTER_MS : [0]) {
        await sleep(delay);
        const now = left ? null : await look(from).catch(() => null);
        if (left) return;
        if (now) setMade(now);
        if (now && stateOf(now, payment) !== "waiting") return;
      }
      setLong(true);
    };
    if (made?.receipt.expires_at && !isMadeHere(id)) void follow(made);
    return () => {
      left = true;
    };
  }, []);
  return { made, setMade, isLong };
}

export function DoneStep(props: DoneStepProps) {
  const { page, kind, payment } = props;
  const { professional } = page;
  const { made, setMade, isLong } = useMade(props);
  const looking = useAction(async () => made && setMade(await look(made)));
  const paying = useAction(async (unpaid: Made) => {
    const back = (outcome: string) => addressOf({ payment: outcome });
    try {
      location.assign(await paymentPage(unpaid, back("success"), back("cancel")));
      await returned();
    } catch (error) {
      await looking.run();
      throw error;
    }
  });

  if (!made) {
    const title = payment === "success" ? said.waiting : said.forgottenTitle;
    return (
      <>
        <Heading title={title}>{title}</Heading>
        <p>{said.forgotten}</p>
        <Link to={START}>{said.more}</Link>
      </>
    );
  }
  const { receipt, input } = made;
  const name = professional.full_name;
  const until = receipt.expires_at ? timeOf(receipt.expires_at, visitorZone) : "";
  const isOver = isCode(paying.error, "hold_expired");
  const state = isOver ? "over" : stateOf(made, payment);
  const words: Record<State, [title: string, text: string]> = {
    over: [said.over, said.overText],
    cancelled: [said.cancelled, said.cancelledText],
    waiting: [said.waiting, isLong ? said.waitingLong : said.waitingText],
    pay: [said.pay, said.payText(until)],
    check: [said.check, said.checkText(input.client_email, until)],
    asked: [said.asked, said.askedText(name)],
    done:
      kind === "booking"
        ? [said.confirmed, said.confirmedText(name)]
        : [said.ordered, said.orderedText(name)],
  };
  const [title, text] = words[state];
  const isSettled = state === "asked" || state === "done";
  return (
    <>
      <div class="stack">
        {/* By its state, so that a new one is said. */}
        <Heading key={state} title={title}>
          {title}
        </Heading>
        <p role="status">{text}</p>
        {state === "pay" && payment === "cancel" && <Notice>{said.backUnpaid}</Notice>}
        {state === "waiting" && !isLong && <Loading />}
      </div>
      <Facts rows={facts(made, professional.time_zone)} />
      {isSettled && <MailWords made={made} />}
      {!isOver && <Failure error={paying.error ?? looking.error} />}
      <div class="actions">
        {state === "pay" && (
          <Button kind="primary" busy={paying.busy} onClick={() => paying.run(made)}>
            {said.payNow(money(receipt.amount_due ?? 0, receipt.currency))}
          </Button>
        )}
        {(state === "check" || (state === "waiting" && isLong)) && (
          <Button busy={looking.busy} onClick={looking.run}>
            {said.look}
          </Button>
        )}
        {(state === "over" || state === "cancelled") && (
          <Button kind="primary" onClick={() => goTo(beginAgain(made, page))}>
            {said.again}
          </Button>
        )}
        {isSettled && made.kind === "booking" && (
          <Button
            onClick={() =>
              download(calendarFile(made.receipt, name, locationOf(made.receipt, page)))
            }
          >
            {said.calendar}
          </Button>
        )}
        <Link to={START}>{said.more}</Link>
      </div>
    </>
  );
}

const locationOf = ({ service_id }: { service_id: string }, { services }: BookingPage) =>
  services.find(({ id }) => id === service_id)?.location ?? null;

/** The step before, with what was typed. */
function beginAgain({ kind, input }: Made, { products }: BookingPage) {
  const { client_name, client_email, client_phone = "", notes = "" } = input;
  writeStored("details", { client_name, client_email, client_phone, notes });
  if (kind === "booking") return { ...START, service: input.service_id };
  const [item] = input.items;
  const product = products.find(
    ({ id, variants }) =>
      id === item?.product_id || variants.some(({ id }) => id === item?.product_id),
  );
  const quantity = String(item?.quantity ?? 1);
  return { ...START, product: product?.id ?? null, variant: item?.product_id ?? null, quantity };
}

function facts({ kind, receipt }: Made, zone: string): Fact[] {
  const text = (amount: number) => money(amount, receipt.currency);
  return kind === "booking"
    ? [
        [texts.what, receipt.service_name],
        ...when(receipt.starts_at, zone),
        [texts.price, text(receipt.price), "total"],
      ]
    : [
        [said.number, receipt.number],
        ...receipt.items.map(
          ({ name, quantity, total }): Fact => [`${quantity} × ${name}`, text(total)],
        ),
        [texts.total, text(receipt.total), "total"],
      ];
}

function MailWords({ made: { kind, receipt, input } }: { made: Made }) {
  const isInTime = kind === "booking" && Date.parse(receipt.cancel_until) > Date.now();
  return (
    <p>
      {said.mail(input.client_email)}{" "}
      {kind === "booking" &&
        (isInTime
          ? said.mailLink(momentText(receipt.cancel_until, visitorZone))
          : said.mailLinkLate)}
    </p>
  );
}
