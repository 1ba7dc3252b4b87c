/**
 * What the TypeScript of the pages takes for granted: tests/unit/doc-examples.test.ts compiles each block as a module
 * that sees these names. A block that declares one of them has its own.
 */
import type {
  ApiClient,
  Booking,
  BookingSession,
  OrderedProducts,
  PortalSession,
  Product,
  Service,
} from "../client/src/index.ts";

declare global {
  const API_URL: string;
  const PUBLISHABLE_KEY: string;
  const API_KEY: string;

  /** The client of the page or program: signed in, where the example is the professional's. */
  const api: ApiClient;
  const session: PortalSession | BookingSession;

  const email: string;
  const password: string;
  const new_password: string;
  const username: string;
  const code: string;
  const hook: string;

  const id: string;
  const user_id: string;
  const professional_id: string;
  const client_id: string;
  const client_name: string;
  const client_email: string;
  const service_id: string;
  const product_id: string;
  const booking_id: string;
  const order_id: string;
  const starts_at: string;
  const items: OrderedProducts;

  const service: Service;
  const product: Product;
  const booking: Booking;

  /** Of a page: shows something to a person. */
  const propose: (starts: string[]) => void;
  const ask: (total: number) => void;
  const show: (stock: number | null) => void;

  /** Of a receiver of webhooks. */
  const request: Request;
  const secret: string;
}
