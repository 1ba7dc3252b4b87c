/** Who it is, and what can be booked and bought. */
import type { BookingPage, PublicProduct, PublicService } from "../../client/src/database.ts";
import { money } from "../shared/format.ts";
import type { Changes } from "../shared/route.ts";
import { shared } from "../shared/texts/index.ts";
import { Heading, Link, Picture, Reach, Words } from "../shared/ui.tsx";
import { texts } from "./texts/index.ts";

export function Home({ page: { professional, services, products } }: { page: BookingPage }) {
  const { full_name: name, currency } = professional;
  return (
    <>
      <section class="hero">
        <Picture src={professional.image_url} />
        <div class="stack">
          <Heading title={name}>{name}</Heading>
          <Words>{professional.bio}</Words>
          <address class="faint">
            <Words>{professional.address}</Words>
            <Reach phone={professional.contact_phone} email={professional.contact_email} />
          </address>
        </div>
      </section>
      {services.length + products.length === 0 && <p>{texts.nothing}</p>}
      <Offers title={texts.book} offers={services.map((of) => serviceOffer(of, currency))} />
      <Offers title={texts.buy} offers={products.map((of) => productOffer(of, currency))} />
      <p>
        <a href={`portal/?professional=${professional.username}`}>{texts.portal}</a>
      </p>
    </>
  );
}

type Named = Pick<PublicService, "id" | "name" | "description" | "category" | "image_url">;
/** `to` is null where it cannot be chosen. */
type Offer = Named & { to: Changes | null; price: string; notes: (string | false)[] };

const priceText = (price: number, currency: string) =>
  price === 0 ? shared.free : money(price, currency);

function serviceOffer(service: PublicService, currency: string): Offer {
  const { payment, deposit, price } = service;
  const notes = [
    shared.minutes(service.duration),
    payment === "full" && price > 0 && texts.payFull,
    payment === "deposit" && deposit !== null && texts.payDeposit(money(deposit, currency)),
    service.requires_confirmation && texts.asksFirst,
  ];
  return { ...service, to: { service: service.id }, price: priceText(price, currency), notes };
}

function productOffer(product: PublicProduct, currency: string): Offer {
  const { variants } = product;
  const prices = (variants.length > 0 ? variants : [product]).map(({ price }) => price);
  const least = priceText(Math.min(...prices), currency);
  return {
    ...product,
    to: product.in_stock ? { product: product.id } : null,
    price: new Set(prices).size > 1 ? texts.from(least) : least,
    notes: [!product.in_stock && texts.soldOut],
  };
}

/** By category, in the order in which they come. */
function Offers({ title, offers }: { title: string; offers: Offer[] }) {
  const categories = [...new Set(offers.map(({ category }) => category))];
  if (offers.length === 0) return null;
  return (
    <section class="stack">
      <h2>{title}</h2>
      {categories.map((category) => (
        <section key={category} class="stack">
          {category && categories.length > 1 && <h3 dir="auto">{category}</h3>}
          <ul class="list">
            {offers
              .filter((offer) => offer.category === category)
              .map(({ id, to, name, description, image_url, notes, price }) => (
                <li key={id} class="card offer">
                  <Picture src={image_url} />
                  <div>
                    <strong dir="auto">
                      {to ? (
                        <Link to={to} class="cover">
                          {name}
                        </Link>
                      ) : (
                        name
                      )}
                    </strong>
                    <Words>{description}</Words>
                    <p class="row faint">
                      {notes.map((note) => note && <span key={note}>{note}</span>)}
                    </p>
                  </div>
                  <strong class="price">{price}</strong>
                </li>
              ))}
          </ul>
        </section>
      ))}
    </section>
  );
}
