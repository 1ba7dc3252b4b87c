/** When and who: the two steps of a booking. What was typed stays, whatever becomes of the time. */
import type { PublicProfessional, PublicService } from "../../client/src/database.ts";
import { publicApi } from "../shared/api.ts";
import { useAction } from "../shared/asking.ts";
import { Form } from "../shared/form.tsx";
import { money } from "../shared/format.ts";
import { goTo, START } from "../shared/route.ts";
import { NextStarts, SlotPicker, when } from "../shared/starts.tsx";
import { shared } from "../shared/texts/index.ts";
import { Facts, Heading, Link } from "../shared/ui.tsx";
import { ClientFields, detailsFor, keepNotes } from "./client-fields.tsx";
import { make } from "./made.ts";
import { texts } from "./texts/index.ts";

type Chosen = { professional: PublicProfessional; service: PublicService };

export function TimesStep({ professional, service }: Chosen) {
  return (
    <>
      <div class="stack">
        <Heading title={`${texts.chooseTime} · ${service.name}`}>{texts.chooseTime}</Heading>
        <p class="row faint">
          <strong dir="auto">{service.name}</strong>
          <span>{shared.minutes(service.duration)}</span>
          <span>{money(service.price, professional.currency)}</span>
        </p>
      </div>
      <SlotPicker {...{ api: publicApi, service, name: professional.full_name }} />
    </>
  );
}

export function DetailsStep({ professional, service, start }: Chosen & { start: string }) {
  const booking = useAction(async () => {
    const input = { ...detailsFor(professional), service_id: service.id, starts_at: start };
    const { receipt } = await make({ kind: "booking", input });
    keepNotes(professional, "");
    goTo({ ...START, booking: receipt.id }, { replace: true });
  });
  const { currency } = professional;
  const due = service.payment === "deposit" ? (service.deposit ?? 0) : service.price;
  const isPaid = service.payment !== "none" && due > 0;
  const label = service.requires_confirmation ? texts.bookAsk : texts.bookNow;
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
        label={isPaid ? texts.bookAndPay : label}
        instead={<NextStarts error={booking.error} />}
        beside={<Link to={{ start: null }}>{texts.allTimes}</Link>}
      >
        <ClientFields professional={professional} error={booking.error} />
      </Form>
    </>
  );
}
