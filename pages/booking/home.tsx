/** Who it is, and what can be booked and bought. */
import { money } from "../shared/format.ts";
import { shared } from "../shared/texts/index.ts";
import { Heading, Link, Picture, Words } from "../shared/ui.tsx";
import type { BookingPage, PublicProduct, PublicService } from "./api.ts";
import { texts } from "./texts/index.ts";

export function Home({ page: { professional, services, products } }: { page: BookingPage }) {
  const { currency } = professional;
  const name = professional.full_name || professional.username;
  const { contact_phone: phone, contact_email: email } = professional;
  return (
    <>
      <section class="hero">
        <Picture src={professional.image_url} />
        <div class="stack">
          <Heading title={name}>{name}</Heading>
          <Words>{professional.bio}</Words>
          <address class="faint">
            <Words>{professional.address}</Words>
            {phone && <a href={`tel:${phone.replace(/[^+\d]/g, "")}`}>{phone}</a>}
            {email && <a href={`mailto:${email}`}>{email}</a>}
          </address>
        </div>
      </section>
      {services.length === 0 && products.length === 0 && <p>{texts.nothing}</p>}
      {services.length > 0 && (
        <Offers title={texts.book} items={services}>
          {(service) => <Service key={service.id} {...{ service, currency }} />}
        </Offers>
      )}
      {products.length > 0 && (
        <Offers title={texts.buy} items={products}>
          {(product) => <Product key={product.id} {...{ product, currency }} />}
        </Offers>
      )}
    </>
  );
}

interface OffersProps<Item> {
  title: string;
  items: Item[];
  children: (item: Item) => preact.ComponentChild;
}

/** By category, in the order in which they come. */
function Offers<Item extends { category: string | null }>(props: OffersProps<Item>) {
  const { title, items, children } = props;
  const categories = [...new Set(items.map(({ category }) => category))];
  return (
    <section class="stack">
      <h2>{title}</h2>
      {categories.map((category) => (
        <section key={category} class="stack">
          {category && categories.length > 1 && <h3 dir="auto">{category}</h3>}
          <ul class="list offers">
            {items.filter((item) => item.category === category).map(children)}
          </ul>
        </section>
      ))}
    </section>
  );
}

const priceText = (price: number, currency: string) =>
  price === 0 ? shared.free : money(price, currency);

function Service({ service, currency }: { service: PublicService; currency: string }) {
  const { payment, deposit } = service;
  return (
    <li class="card offer">
      <Picture src={service.image_url} />
      <div>
        <Link to={{ service: service.id }} class="cover">
          <span dir="auto">{service.name}</span>
        </Link>
        <Words>{service.description}</Words>
        <p class="row faint">
          <span>{shared.minutes(service.duration)}</span>
          {payment === "full" && service.price > 0 && <span>{texts.payFull}</span>}
          {payment === "deposit" && deposit !== null && (
            <span>{texts.payDeposit(money(deposit, currency))}</span>
          )}
          {service.requires_confirmation && <span>{texts.asksFirst}</span>}
        </p>
      </div>
      <strong class="price">{priceText(service.price, currency)}</strong>
    </li>
  );
}

function Product({ product, currency }: { product: PublicProduct; currency: string }) {
  const prices = product.variants.map(({ price }) => price);
  const least = Math.min(...prices, ...(prices.length ? [] : [product.price]));
  const price = priceText(least, currency);
  const name = <span dir="auto">{product.name}</span>;
  return (
    <li class="card offer">
      <Picture src={product.image_url} />
      <div>
        {product.in_stock ? (
          <Link to={{ product: product.id }} class="cover">
            {name}
          </Link>
        ) : (
          <strong>{name}</strong>
        )}
        <Words>{product.description}</Words>
        {!product.in_stock && <p class="faint">{texts.soldOut}</p>}
      </div>
      <strong class="price">{new Set(prices).size > 1 ? texts.from(price) : price}</strong>
    </li>
  );
}
