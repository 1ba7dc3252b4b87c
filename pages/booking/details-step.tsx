/** Who: the last step of a booking. What was typed stays, whatever becomes of the time. */
import { useAction } from "../shared/asking.ts";
import { Form } from "../shared/form.tsx";
import { money } from "../shared/format.ts";
import { goTo } from "../shared/route.ts";
import { NextStarts, when } from "../shared/starts.tsx";
import { useStored } from "../shared/store.ts";
import { shared } from "../shared/texts/index.ts";
import { Facts, Heading, Link } from "../shared/ui.tsx";
import { book, type Chosen, draftOf, NO_DETAILS } from "./api.ts";
import { ClientFields } from "./client-fields.tsx";
import { START } from "./start.ts";
import { texts } from "./texts/index.ts";

export function DetailsStep({ professional, service, start }: Chosen & { start: string }) {
  const [details, setDetails] = useStored(draftOf(professional), NO_DETAILS);
  const booking = useAction(async () => {
    const { receipt } = await book({ ...details, service_id: service.id, starts_at: start });
    setDetails({ ...details, notes: "" });
    goTo({ ...START, booking: receipt.id }, { replace: true });
  });
  const { full_name: name, currency } = professional;
  const due = service.payment === "deposit" ? (service.deposit ?? 0) : service.price;
  const isPaid = service.payment !== "none" && due > 0;
  return (
    <>
      <Heading title={`${texts.yourDetails} · ${service.name}`}>{texts.yourDetails}</Heading>
      <Facts
        rows={[
          [texts.what, `${service.name} · ${shared.minutes(service.duration)}`],
          ...when(start, professional.time_zone),
          service.location !== null && [texts.where, service.location],
          [texts.price, money(service.price, currency), "total"],
          service.payment === "deposit" && isPaid && [texts.toPayNow, money(due, currency)],
        ]}
      />
      <Form
        noValidate
        action={booking}
        label={
          isPaid ? texts.bookAndPay : service.requires_confirmation ? texts.bookAsk : texts.bookNow
        }
        instead={<NextStarts error={booking.error} />}
        beside={<Link to={{ start: null }}>{texts.allTimes}</Link>}
      >
        <ClientFields {...{ name, details, onDetails: setDetails, error: booking.error }} />
      </Form>
    </>
  );
}
