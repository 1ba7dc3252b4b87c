/** Which step of booking or buying the address names. */
import { publicPage } from "../shared/api.ts";
import { useLoaded } from "../shared/asking.ts";
import { Failure } from "../shared/errors.tsx";
import { instantIn } from "../shared/format.ts";
import { useRoute } from "../shared/route.ts";
import { Heading, Link, Loading, Notice, Page } from "../shared/ui.tsx";
import { api, type BookingPage } from "./api.ts";
import { BuyStep } from "./buy-step.tsx";
import { DetailsStep } from "./details-step.tsx";
import { DoneStep } from "./done-step.tsx";
import { Home } from "./home.tsx";
import { START } from "./start.ts";
import { texts } from "./texts/index.ts";
import { TimesStep } from "./times-step.tsx";

const STEPS = ["service", "product", "booking", "order"];

export function App() {
  const { query } = useRoute();
  const username = query.get("professional") || import.meta.env.VITE_PROFESSIONAL;
  const page = useLoaded((signal) => publicPage(api, username, signal), [username]);
  const name = page.value?.professional.full_name;
  const isDeep = STEPS.some((step) => query.has(step));
  const isUnknown = page.value === null;
  const title = isUnknown ? texts.unknownTitle : texts.book;
  return (
    <Page
      brand={isDeep && name && <Link to={START}>{name}</Link>}
      wide={query.has("service") && !query.has("start")}
    >
      {page.value && <Step page={page.value} query={query} />}
      {(isUnknown || page.error !== undefined) && <Heading title={title}>{title}</Heading>}
      {isUnknown ? <p>{texts.unknown}</p> : <Failure error={page.error} again={page.again} />}
      {page.value === undefined && !page.error && <Loading />}
    </Page>
  );
}

function Step({ page, query }: { page: BookingPage; query: URLSearchParams }) {
  const { professional, services, products } = page;
  for (const kind of ["booking", "order"] as const) {
    const id = query.get(kind);
    if (id) return <DoneStep key={id} {...{ page, kind, id }} payment={query.get("payment")} />;
  }
  const service = services.find(({ id }) => id === query.get("service"));
  const start = instantIn(query.get("start"));
  if (service && start) return <DetailsStep key={start} {...{ professional, service, start }} />;
  if (service) return <TimesStep {...{ professional, service }} />;
  const product = products.find(({ id }) => id === query.get("product"));
  if (product) return <BuyStep {...{ professional, product, query }} />;
  const isGone = query.has("service") || query.has("product");
  return (
    <>
      {isGone && <Notice kind="error">{texts.gone}</Notice>}
      <Home page={page} />
    </>
  );
}
