/** One product: which, how many, what it costs right now, and for whom. */
import type { PublicProduct, PublicProfessional } from "../../client/src/database.ts";
import { isCode, publicApi } from "../shared/api.ts";
import { useAction, useLoaded } from "../shared/asking.ts";
import { Failure } from "../shared/errors.tsx";
import { Form } from "../shared/form.tsx";
import { money } from "../shared/format.ts";
import { goTo, START } from "../shared/route.ts";
import { Facts, Field, Heading, Words } from "../shared/ui.tsx";
import { ClientFields, detailsFor, keepNotes } from "./client-fields.tsx";
import { make } from "./made.ts";
import { texts } from "./texts/index.ts";

type BuyStepProps = {
  professional: PublicProfessional;
  product: PublicProduct;
  query: URLSearchParams;
};

export function BuyStep({ professional, product, query }: BuyStepProps) {
  const { id: professional_id, currency } = professional;
  const { variants } = product;
  const { id: product_id } =
    variants.find(({ id }) => id === query.get("product")) ?? variants[0] ?? product;
  const quantity = query.get("quantity") ?? "1";
  const items = [{ product_id, quantity: Number(quantity) }];
  const quote = useLoaded(
    (signal) => publicApi.rpc("quote_order", { professional_id, items }, { signal }),
    [product_id, quantity],
  );
  const ordering = useAction(async () => {
    // Nothing is ordered at a price that was not shown.
    if (!quote.value) return quote.again();
    const order = { professional_id, items, expected_total: quote.value.total };
    try {
      const input = { ...detailsFor(professional), ...order };
      const { receipt } = await make({ kind: "order", input });
      keepNotes(professional, "");
      goTo({ ...START, order: receipt.id }, { replace: true });
    } catch (error) {
      if (isCode(error, "total_changed", "insufficient_stock")) quote.again();
      throw error;
    }
  });
  const choose = (changes: Record<string, string>) => {
    ordering.forget();
    goTo(changes, { replace: true });
  };
  const taxText = professional.prices_include_tax ? texts.taxIncluded : texts.tax;
  return (
    <>
      <div class="stack">
        <Heading title={product.name}>{product.name}</Heading>
        <Words>{product.description}</Words>
      </div>
      <Form
        noValidate
        action={ordering}
        label={professional.orders_need_payment ? texts.orderAndPay : texts.order}
        waits={!quote.value && !quote.error}
      >
        {variants.length > 0 && (
          <fieldset class="choices">
            <legend>{texts.variant}</legend>
            {variants.map(({ id, name, price, in_stock }) => (
              <label key={id}>
                <input
                  type="radio"
                  name="variant"
                  checked={id === product_id}
                  onChange={() => choose({ product: id })}
                />
                <span dir="auto">{name}</span>
                <span class="price">{in_stock ? money(price, currency) : texts.soldOut}</span>
              </label>
            ))}
          </fieldset>
        )}
        <Field
          {...{ name: "quantity", label: texts.quantity, type: "number", min: 1, value: quantity }}
          onValue={(value) => choose({ quantity: value })}
        />
        <div aria-live="polite" class="quote">
          <Failure error={quote.error} />
          {quote.value && (
            <Facts
              rows={[
                [texts.total, money(quote.value.total, currency), "total"],
                quote.value.tax > 0 && [taxText, money(quote.value.tax, currency)],
              ]}
            />
          )}
        </div>
        <h2>{texts.yourDetails}</h2>
        <ClientFields professional={professional} error={ordering.error} />
      </Form>
    </>
  );
}
