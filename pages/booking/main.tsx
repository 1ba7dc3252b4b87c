/** Which step of booking or buying the address names. */
import { render } from "preact";
import type { BookingPage } from "../../client/src/database.ts";
import { publicPage } from "../shared/api.ts";
import { useLoaded } from "../shared/asking.ts";
import { Failure } from "../shared/errors.tsx";
import { instantIn } from "../shared/format.ts";
import { START, useRoute } from "../shared/route.ts";
import { Heading, Link, Loading, Notice, Page } from "../shared/ui.tsx";
import { DetailsStep, TimesStep } from "./book-steps.tsx";
import { BuyStep } from "./buy-step.tsx";
import { DoneStep } from "./done-step.tsx";
import { Home } from "./home.tsx";
import { texts } from "./texts/index.ts";

function App() {
  const { query } = useRoute();
  const named = query.get("professional");
  const { value: page, error, again } = useLoaded((by) => publicPage(named, by), [named]);
  const isDeep = ["service", "product", "booking", "order"].some((step) => query.has(step));
  const title = page === null ? texts.unknownTitle : texts.book;
  return (
    <Page
      brand={isDeep && page && <Link to={START}>{page.professional.full_name}</Link>}
      wide={query.has("service") && !query.has("start")}
    >
      {page && <Step page={page} query={query} />}
      {!page && (page === null || !!error) && <Heading title={title}>{title}</Heading>}
      {page === null ? <p>{texts.unknown}</p> : <Failure error={error} again={again} />}
      {page === undefined && !error && <Loading />}
    </Page>
  );
}

function Step({ page, query }: { page: BookingPage; query: URLSearchParams }) {
  const { professional, services, products } = page;
  const { service: serviceId, product: id, booking, order } = Object.fromEntries(query);
  const made = booking || order;
  const kind = booking ? "booking" : "order";
  if (made) return <DoneStep key={made} {...{ page, kind, id: made, query }} />;
  const service = services.find((one) => one.id === serviceId);
  const start = instantIn(query.get("start"));
  if (service && start) return <DetailsStep key={start} {...{ professional, service, start }} />;
  if (service) return <TimesStep key={serviceId} {...{ professional, service }} />;
  const product = products.find((one) => [one, ...one.variants].some((any) => any.id === id));
  if (product) return <BuyStep key={product.id} {...{ professional, product, query }} />;
  return (
    <>
      {(serviceId || id) && <Notice kind="error">{texts.gone}</Notice>}
      <Home page={page} />
    </>
  );
}

render(<App />, document.getElementById("page") as HTMLElement);
