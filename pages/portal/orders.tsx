/** Orders of the client, the way to pay them, and what became of a payment that somebody comes back from. */
import { useEffect, useState } from "preact/hooks";
import type { Order } from "../../client/src/database.ts";
import { useAction } from "../shared/asking.ts";
import { Form } from "../shared/form.tsx";
import { dateOf, dateText, money, timeOf, visitorZone } from "../shared/format.ts";
import { addressOf, useRoute } from "../shared/route.ts";
import { readStored, writeStored } from "../shared/store.ts";
import { type Fact, Facts, Heading, Notice, Words } from "../shared/ui.tsx";
import { List } from "./list.tsx";
import { CLEAN, type Portal } from "./session.ts";
import { texts as all } from "./texts/index.ts";

const texts = all.orders;

const COLUMNS =
  "id, number, created_at, items, subtotal, discount, tax, total, deposit, currency, status, payment_status, amount_paid, amount_refunded, notes, expires_at";

/** How often, and how far apart, a payment is looked for. */
const [LOOKS, PAUSE_MS] = [20, 1500];

/** What is said of a payment that somebody comes back from, maybe before the API knows of it. */
function usePayment(api: Portal["api"], query: URLSearchParams): string {
  const paid = query.get("paid");
  const [said, setSaid] = useState(texts.recording);
  useEffect(() => {
    if (!paid) return;
    const before = readStored<number>("portal.paid") ?? 0;
    let left = LOOKS;
    const timer = setInterval(async () => {
      const asked = api.from("orders").select("status, amount_paid").eq("id", paid);
      // Without an answer it is asked again.
      const [order] = await api.run(asked).catch(() => []);
      const isThere = order && order.amount_paid > before;
      left -= 1;
      if (!isThere && left > 0) return;
      clearInterval(timer);
      const became = order?.status === "cancelled" ? texts.returned : texts.recorded;
      setSaid(isThere ? became : texts.slow);
    }, PAUSE_MS);
    return () => clearInterval(timer);
  }, [paid]);
  return paid ? said : query.has("unpaid") ? texts.notPaid : "";
}

export function Orders({ api }: Pick<Portal, "api">) {
  const { query } = useRoute();
  const said = usePayment(api, query);
  const load = (): Promise<Order[]> => {
    const orders = api.from("orders").select(COLUMNS as "*");
    return api.run(orders.order("created_at", { ascending: false }).order("id"));
  };
  return (
    <section class="stack">
      <Heading level={2}>{all.nav.orders}</Heading>
      {said && <Notice>{said}</Notice>}
      <List
        key={said}
        {...{ load, none: texts.none }}
        card={(order) => <Card api={api} order={order} />}
      />
    </section>
  );
}

function Card({ api, order }: Pick<Portal, "api"> & { order: Order }) {
  const { status, currency, subtotal, discount, tax, total, expires_at } = order;
  // Prices that include the tax add up without it.
  const isIncluded = Math.abs(subtotal - discount - total) < 0.0005;
  const sum = (label: string, amount: number): Fact =>
    amount !== 0 && [label, money(amount, currency)];
  const isHold = status === "pending" && expires_at !== null;
  return (
    <>
      <div class="row apart">
        <h3>{texts.number(order.number)}</h3>
        <span class={status === "cancelled" ? "badge quiet" : "badge"}>
          {texts.status[isHold ? "hold" : status]}
        </span>
      </div>
      <p class="faint">
        {dateText(dateOf(order.created_at, visitorZone))} · {texts.payment[order.payment_status]}
      </p>
      <Facts
        plain
        rows={[
          ...order.items.map(({ name, options, quantity, ...line }): Fact => {
            const words = [name, ...Object.values(options)].join(", ");
            return [`${quantity} × ${words}`, money(line.total, currency)];
          }),
          sum(texts.discount, -discount),
          !isIncluded && sum(texts.tax, tax),
          [texts.total, money(total, currency), "total"],
          isIncluded && sum(texts.taxIncluded, tax),
          sum(texts.paid, order.amount_paid),
          sum(texts.refunded, order.amount_refunded),
        ]}
      />
      <Words>{order.notes}</Words>
      {isHold && <p>{texts.holdNote(timeOf(expires_at, visitorZone))}</p>}
      {dueNow(order) > 0 && <Pay api={api} order={order} />}
    </>
  );
}

/** What is offered to be paid; how much is due then, the API says. Who got money back is asked for none. */
export function dueNow({ status, payment_status, amount_paid, deposit, total }: Order): number {
  if (status === "cancelled" || payment_status.endsWith("refunded")) return 0;
  return Math.max((deposit !== null && amount_paid < deposit ? deposit : total) - amount_paid, 0);
}

export function Pay({ api, order }: Pick<Portal, "api"> & { order: Order }) {
  const pay = useAction(async () => {
    const back = (how: string) => addressOf({ ...CLEAN, view: "orders", [how]: order.id });
    const asked = { order_id: order.id, success_url: back("paid"), cancel_url: back("unpaid") };
    const { url } = await api.functions.payments.checkout(asked);
    // What has arrived is told from what had been paid before.
    writeStored("portal.paid", order.amount_paid);
    location.assign(url);
  });
  return <Form action={pay} label={texts.pay(money(dueNow(order), order.currency))} />;
}
