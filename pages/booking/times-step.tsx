/** When: a day and a time of a service. */
import { addDays, dateOf, money, visitorZone } from "../shared/format.ts";
import { goTo } from "../shared/route.ts";
import { SlotPicker } from "../shared/slot-picker.tsx";
import { shared } from "../shared/texts/index.ts";
import { Heading } from "../shared/ui.tsx";
import { api, type Chosen } from "./api.ts";
import { texts } from "./texts/index.ts";

export function TimesStep({ professional, service, day }: Chosen & { day: string | null }) {
  const today = dateOf(new Date(), visitorZone);
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
      <SlotPicker
        load={(from_date, to_date, signal) => {
          const args = { service_id: service.id, from_date, to_date };
          return api.rpc("available_slots", args, signal && { signal });
        }}
        name={professional.full_name}
        lastDate={addDays(today, service.max_advance_days + 1)}
        day={day}
        onDay={(chosen) => goTo({ day: chosen }, { replace: true })}
        onPick={(start) => goTo({ start })}
      />
    </>
  );
}
