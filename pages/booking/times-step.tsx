/** When: a day and a time of a service. */
import { money } from "../shared/format.ts";
import { SlotPicker } from "../shared/slot-picker.tsx";
import { shared } from "../shared/texts/index.ts";
import { Heading } from "../shared/ui.tsx";
import { api, type Chosen } from "./api.ts";
import { texts } from "./texts/index.ts";

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
      <SlotPicker {...{ api, service, name: professional.full_name }} />
    </>
  );
}
