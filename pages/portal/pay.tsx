/** What is due, and the way to the page on which it is paid. */
import type { Order } from "../../client/src/database.ts";
import { useAction } from "../shared/action.ts";
import { isCode } from "../shared/api.ts";
import { Failure } from "../shared/errors.tsx";
import { money } from "../shared/format.ts";
import { addressOf } from "../shared/route.ts";
import { Button, Notice } from "../shared/ui.tsx";
import { CLEAN } from "./home.tsx";
import type { Portal } from "./session.ts";
import { remember } from "./tab.ts";
import { texts } from "./texts/index.ts";

/** What is offered to be paid; how much is due then, the API says. Who got money back is asked for none. */
export function dueNow(order: Order): number {
  if (order.status === "cancelled" || order.payment_status.endsWith("refunded")) return 0;
  const { amount_paid: paid, deposit, total } = order;
  return Math.max((deposit !== null && paid < deposit ? deposit : total) - paid, 0);
}

export function Pay({ api, session, order }: Portal & { order: Order }) {
  const pay = useAction(async () => {
    const back = (how: string) => addressOf({ ...CLEAN, view: "orders", [how]: order.id });
    const asked = { order_id: order.id, success_url: back("paid"), cancel_url: back("unpaid") };
    const { url } = await api.functions.payments.checkout(asked);
    // What has arrived is told from what had been paid before.
    remember("paid", order.amount_paid);
    location.assign(url);
  });
  if (isCode(pay.error, "payments_unavailable", "amount_not_payable", "payments_not_configured")) {
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
