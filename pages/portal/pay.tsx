/** What is due, and the way to the page on which it is paid. */
import { useAction } from "../shared/action.ts";
import { ApiError } from "../shared/api.ts";
import { Failure } from "../shared/errors.tsx";
import { money } from "../shared/format.ts";
import { addressOf } from "../shared/route.ts";
import { Button, Notice } from "../shared/ui.tsx";
import { CLEAN, type Portal } from "./home.tsx";
import { remember } from "./tab.ts";
import { texts } from "./texts/index.ts";

/** The columns of an order that say what is due. */
export interface Due {
  id: string;
  status: "pending" | "confirmed" | "fulfilled" | "cancelled";
  total: number;
  deposit: number | null;
  amount_paid: number;
  amount_refunded: number;
  payment_status: "unpaid" | "partially_paid" | "paid" | "partially_refunded" | "refunded";
  currency: string;
  expires_at: string | null;
}

/** What is offered to be paid; how much is due then, the API says. Who got money back is asked for none. */
export function dueNow(order: Due): number {
  if (order.status === "cancelled" || order.payment_status.endsWith("refunded")) return 0;
  const { amount_paid: paid, deposit, total } = order;
  return Math.max((deposit !== null && paid < deposit ? deposit : total) - paid, 0);
}

const IMPOSSIBLE = ["payments_unavailable", "amount_not_payable", "payments_not_configured"];

export function Pay({ api, session, order }: Portal & { order: Due }) {
  const pay = useAction(async () => {
    const back = (how: string) => addressOf({ ...CLEAN, view: "orders", [how]: order.id });
    const asked = { order_id: order.id, success_url: back("paid"), cancel_url: back("unpaid") };
    const { url } = await api.functions.payments.checkout(asked);
    // What has arrived is told from what had been paid before.
    remember("paid", order.amount_paid);
    location.assign(url);
  });
  if (pay.error instanceof ApiError && IMPOSSIBLE.includes(pay.error.code)) {
    return <Notice kind="error">{texts.orders.noOnline(session.professional.full_name)}</Notice>;
  }
  return (
    <>
      <Failure error={pay.error} />
      <div class="actions">
        <Button kind="primary" busy={pay.busy} onClick={pay.run}>
          {texts.orders.pay(money(dueNow(order), order.currency))}
        </Button>
      </div>
    </>
  );
}
