/** Orders of the client, and what became of a payment that the visitor comes back from. */
import { useEffect, useState } from "preact/hooks";
import type { Order, OrderLine } from "../../client/src/database.ts";
import { dateOf, dateText, money, timeOf, visitorZone } from "../shared/format.ts";
import { useRoute } from "../shared/route.ts";
import { Heading, Notice, Words } from "../shared/ui.tsx";
import { List } from "./list.tsx";
import { dueNow, Pay } from "./pay.tsx";
import type { Portal } from "./session.ts";
import { recall } from "./tab.ts";
import { texts as all } from "./texts/index.ts";

const texts = all.orders;

const COLUMNS =
  "id, number, created_at, items, subtotal, discount, tax, total, deposit, currency, status, payment_status, amount_paid, amount_refunded, notes, expires_at";

export function Orders(portal: Portal) {
  const { api } = portal;
  const { query } = useRoute();
  const [arrived, setArrived] = useState(false);
  const paid = query.get("paid");
  const load = (first: number, last: number): Promise<Order[]> => {
    const orders = api.from("orders").select(COLUMNS as "*");
    const inOrder = orders.order("created_at", { ascending: false }).order("id");
    return api.run(inOrder.range(first, last));
  };
  return (
    <section class="stack">
      <Heading level={2}>{all.nav.orders}</Heading>
      {paid && <Arrival api={api} id={paid} onArrived={() => setArrived(true)} />}
      {query.has("unpaid") && <Notice>{texts.notPaid}</Notice>}
      <List
        key={arrived}
        load={load}
        none={texts.none}
        card={(order) => <Card {...portal} order={order} />}
      />
    </section>
  );
}

const TRIES = 15;
const PAUSE_MS = 2000;

interface ArrivalProps extends Pick<Portal, "api"> {
  id: string;
  onArrived: () => void;
}

/** People come back as soon as they have paid, which may be before the API knows. */
function Arrival({ api, id, onArrived }: ArrivalProps) {
  const [said, setSaid] = useState(texts.recording);
  useEffect(() => {
    const before = recall<number>("paid") ?? 0;
    let timer: ReturnType<typeof setTimeout>;
    const look = async (tries: number) => {
      const asked = api.from("orders").select("status, amount_paid").eq("id", id);
      // Without an answer it is asked again.
      const [order] = await api.run(asked).catch(() => []);
      if (order && order.amount_paid > before) {
        setSaid(order.status === "cancelled" ? texts.returned : texts.recorded);
        onArrived();
      } else if (tries > 0) timer = setTimeout(look, PAUSE_MS, tries - 1);
      else setSaid(texts.slow);
    };
    void look(TRIES);
    return () => clearTimeout(timer);
  }, []);
  return <Notice kind={said === texts.recorded ? "good" : "info"}>{said}</Notice>;
}

function Card({ order, ...portal }: Portal & { order: Order }) {
  const { status, currency, discount, tax, total, expires_at } = order;
  const items = order.items as unknown as OrderLine[];
  // Prices that include the tax add up without it.
  const isIncluded = Math.abs(order.subtotal - discount - total) < 0.0005;
  const line = (label: string, amount: number) =>
    amount !== 0 && (
      <div>
        <dt>{label}</dt>
        <dd>{money(amount, currency)}</dd>
      </div>
    );
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
      <dl class="facts">
        {items.map(({ name, options, quantity, total }, index) => (
          <div key={index}>
            <dt>
              {quantity} × <bdi>{[name, ...Object.values(options ?? {})].join(", ")}</bdi>
            </dt>
            <dd>{money(total, currency)}</dd>
          </div>
        ))}
        {line(texts.discount, -discount)}
        {!isIncluded && line(texts.tax, tax)}
        <div class="total">
          <dt>{texts.total}</dt>
          <dd>{money(total, currency)}</dd>
        </div>
        {isIncluded && line(texts.taxIncluded, tax)}
        {line(texts.paid, order.amount_paid)}
        {line(texts.refunded, order.amount_refunded)}
      </dl>
      <Words>{order.notes}</Words>
      {isHold && <p>{texts.holdNote(timeOf(expires_at, visitorZone))}</p>}
      {dueNow(order) > 0 && <Pay {...portal} order={order} />}
    </>
  );
}
