/** Runs in front of each file of `tests/browser`: its stack is the one with pages. */
import { askControl, type PagesAddresses } from "./pages-control.ts";

const { env, checkoutUrl } = await askControl<PagesAddresses>("/start");
Object.assign(process.env, env, { CHECKOUT_URL: checkoutUrl });
