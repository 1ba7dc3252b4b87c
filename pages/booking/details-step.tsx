/** Who: the last step of a booking. What was typed stays, whatever becomes of the time. */
import { useAction } from "../shared/action.ts";
import { ApiError } from "../shared/api.ts";
import { Failure, fieldErrors } from "../shared/errors.tsx";
import { clocksDiffer, momentText, money, visitorZone, zoneText } from "../shared/format.ts";
import { goTo } from "../shared/route.ts";
import { shared } from "../shared/texts/index.ts";
import { Button, Heading, Link } from "../shared/ui.tsx";
import { book, NO_DETAILS, type PublicProfessional, type PublicService } from "./api.ts";
import { ClientFields } from "./client-fields.tsx";
import { START } from "./start.ts";
import { useStored } from "./store.ts";
import { texts } from "./texts/index.ts";

interface DetailsStepProps {
  professional: PublicProfessional;
  service: PublicService;
  start: string;
}

export function DetailsStep({ professional, service, start }: DetailsStepProps) {
  const [details, setDetails] = useStored("details", NO_DETAILS);
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
      <dl class="facts card">
        <div>
          <dt>{texts.what}</dt>
          <dd>
            <span dir="auto">{service.name}</span> · {shared.minutes(service.duration)}
          </dd>
        </div>
        <When start={start} zone={professional.time_zone} />
        {service.location && (
          <div>
            <dt>{texts.where}</dt>
            <dd dir="auto">{service.location}</dd>
          </div>
        )}
        <div class="total">
          <dt>{texts.price}</dt>
          <dd>{money(service.price, currency)}</dd>
        </div>
        {service.payment === "deposit" && isPaid && (
          <div>
            <dt>{texts.toPayNow}</dt>
            <dd>{money(due, currency)}</dd>
          </div>
        )}
      </dl>
      <form
        class="stack"
        noValidate
        onSubmit={(event) => {
          event.preventDefault();
          void booking.run();
        }}
      >
        <ClientFields
          {...{ name, details }}
          onDetails={setDetails}
          errors={fieldErrors(booking.error)}
        />
        <Failure error={booking.error}>
          <NextStarts
            error={booking.error}
            onPick={(next) => goTo({ start: next }, { replace: true })}
          />
        </Failure>
        <div class="actions">
          <Button kind="primary" type="submit" busy={booking.busy}>
            {isPaid
              ? texts.bookAndPay
              : service.requires_confirmation
                ? texts.bookAsk
                : texts.bookNow}
          </Button>
          <Link to={{ start: null }}>{texts.allTimes}</Link>
        </div>
      </form>
    </>
  );
}

/** A start by the visitor's clock, and by the professional's where that shows another time. */
export function When({ start, zone }: { start: string; zone: string }) {
  return (
    <>
      <div>
        <dt>{texts.when}</dt>
        <dd>{momentText(start, visitorZone)}</dd>
      </div>
      {clocksDiffer(start, visitorZone, zone) && (
        <div>
          <dt>{texts.inZone(zoneText(zone))}</dt>
          <dd>{momentText(start, zone)}</dd>
        </div>
      )}
    </>
  );
}

/** The free starts that a refusal offers instead. */
function NextStarts({ error, onPick }: { error: unknown; onPick: (start: string) => void }) {
  const details = error instanceof ApiError ? error.details : null;
  const { next_starts: starts = [] } = (details ?? {}) as { next_starts?: string[] };
  if (starts.length === 0) return null;
  return (
    <>
      <p>{texts.nextStarts}</p>
      <ul class="actions">
        {starts.map((start) => (
          <li key={start}>
            <Button onClick={() => onPick(start)}>{momentText(start, visitorZone, "day")}</Button>
          </li>
        ))}
      </ul>
    </>
  );
}
