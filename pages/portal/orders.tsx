/** Orders of the client, and the way to pay them. */
import type { ComponentChildren } from "preact";
import type { Order } from "../../client/src/database.ts";
import type { ApiClient } from "../shared/api.ts";
import { type Loaded, useAction, useLoaded } from "../shared/asking.ts";
import { Failure } from "../shared/errors.tsx";
import { Form } from "../shared/form.tsx";
import { dateOf, dateText, money, timeOf, visitorZone } from "../shared/format.ts";
import { addressOf, leaveFor, START, useRoute } from "../shared/route.ts";
import { type Fact, Facts, Heading, Loading, Notice, Words } from "../shared/ui.tsx";
import { texts as all } from "./texts/index.ts";

const texts = all.orders;

const COLUMNS =
  "id, number, created_at, items, discount, tax, total, deposit, currency, status, payment_status, amount_paid, amount_refunded, notes, expires_at";

export function Orders({ api }: { api: ApiClient }) {
  const payment = useRoute().query.get("payment");
  const load = (): Promise<Order[]> => {
    const orders = api.from("orders").select(COLUMNS as "*");
    return api.run(orders.order("created_at", { ascending: false }).order("id"));
  };
  // A payment arrives some seconds after whoever has paid.
  const orders = useLoaded(load, [], { every: payment === "success" ? 3000 : 0 });
  return (
    <section class="stack">
      <Heading level={2}>{all.nav.orders}</Heading>
      {payment === "success" && <Notice>{texts.hasPaid}</Notice>}
      {payment === "cancel" && <Notice>{texts.notPaid}</Notice>}
      <List found={orders} none={texts.none}>
        {orders.value?.map((order) => (
          <Card key={order.id} {...{ api, order }} />
        ))}
      </List>
    </section>
  );
}

type ListProps = { found: Loaded<unknown[]>; none: string; children: ComponentChildren };

/** What was found before stays when it cannot be asked for again. */
export function List({ found: { value, error, again }, none, children }: ListProps) {
  if (!value) return error ? <Failure error={error} again={again} /> : <Loading />;
  return value.length === 0 ? <p role="status">{none}</p> : <ul class="list">{children}</ul>;
}

type OrderProps = { api: ApiClient; order: Order };

function Card({ api, order }: OrderProps) {
  const { status, currency, expires_at } = order;
  const sum = (label: string, amount: number): Fact =>
    amount !== 0 && [label, money(amount, currency)];
  const isHold = status === "pending" && expires_at !== null;
  return (
    <li class="card stack">
      <div class="row apart">
        <h3>{texts.number(order.number)}</h3>
        <span class={status === "cancelled" ? "badge quiet" : "badge"}>
          {texts.status[isHold ? "hold" : status]}
        </span>
      </div>
      <p class="faint" aria-live="polite">
        {dateText(dateOf(order.created_at, visitorZone))} · {texts.payment[order.payment_status]}
      </p>
      <Facts
        plain
        rows={[
          ...order.items.map(({ name, options, quantity, total }): Fact => {
            const words = [name, ...Object.values(options)].join(", ");
            return [`${quantity} × ${words}`, money(total, currency)];
          }),
          sum(texts.discount, -order.discount),
          [texts.total, money(order.total, currency), "total"],
          sum(texts.tax, order.tax),
          sum(texts.paid, order.amount_paid),
          sum(texts.refunded, order.amount_refunded),
        ]}
      />
      <Words>{order.notes}</Words>
      {isHold && <p>{texts.holdNote(timeOf(expires_at, visitorZone))}</p>}
      <Pay api={api} order={order} />
    </li>
  );
}

/** What is offered to be paid; how much is due then, the API says. Who got money back is asked for none. */
export function Pay({ api, order }: OrderProps) {
  const { status, payment_status, amount_paid, deposit, total } = order;
  const pay = useAction(async () => {
    const back = (payment: string) => addressOf({ ...START, view: "orders", payment });
    const { url } = await api.functions.payments.checkout({
      order_id: order.id,
      success_url: back("success"),
      cancel_url: back("cancel"),
    });
    await leaveFor(url);
  });
  const due = (deposit !== null && amount_paid < deposit ? deposit : total) - amount_paid;
  if (due <= 0 || status === "cancelled" || payment_status.endsWith("refunded")) return null;
  return <Form action={pay} label={texts.pay(money(due, order.currency))} />;
}
