/**
 * Resend's API as far as mails need it, over HTTP: the key, the shape of a mail, idempotency keys as its
 * pages describe them; and it fails as it is told.
 */
import { randomUUID } from "node:crypto";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { z } from "zod";

export const RESEND_KEY = "re_test_123";

const MailBody = z.strictObject({
  from: z.string(),
  to: z.string(),
  reply_to: z.string().optional(),
  subject: z.string(),
  text: z.string(),
  html: z.string(),
  headers: z.record(z.string(), z.string()).optional(),
  attachments: z
    .array(z.strictObject({ filename: z.string(), content: z.base64(), content_type: z.string() }))
    .optional(),
  tags: z
    .array(z.strictObject({ name: z.string(), value: z.string().regex(/^[\w-]{1,256}$/) }))
    .optional(),
});

export type SentBody = z.infer<typeof MailBody>;

export interface Request {
  headers: IncomingHttpHeaders;
  key: string | undefined;
  body: SentBody;
}

export interface Fault {
  status: number;
  name?: string;
  headers?: Record<string, string>;
  /** Instead of the error's JSON. */
  text?: string;
}

export interface FakeResend {
  url: string;
  /** All requests for a mail, whatever became of them. */
  requests: Request[];
  /** Mails that would have gone out, by their ids. */
  sent: Map<string, SentBody>;
  /**
   * What to do with a request: nothing for the usual, a fault, `cut` to end the connection, `hang` to never
   * answer; `lose` and `stall` the same after the mail was taken.
   */
  fault: (request: Request) => Fault | "cut" | "hang" | "lose" | "stall" | undefined;
  close(): Promise<void>;
}

export async function startResend(): Promise<FakeResend> {
  const seen = new Map<string, { body: string; id: string }>();
  const server = createServer(async (incoming, outgoing) => {
    const answer = (status: number, body: unknown, headers: Record<string, string> = {}) => {
      outgoing.writeHead(status, { "content-type": "application/json", ...headers });
      outgoing.end(typeof body === "string" ? body : JSON.stringify(body));
    };
    const refuse = (statusCode: number, name: string, headers = {}) =>
      answer(statusCode, { statusCode, name, message: "of someone@example.com" }, headers);

    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    if (incoming.method !== "POST" || incoming.url !== "/emails") return refuse(404, "not_found");
    if (incoming.headers.authorization !== `Bearer ${RESEND_KEY}`) {
      return refuse(401, "invalid_api_key");
    }
    const text = Buffer.concat(chunks).toString();
    const parsed = MailBody.safeParse(JSON.parse(text));
    if (!parsed.success) return refuse(422, "validation_error");
    const key = incoming.headers["idempotency-key"] as string | undefined;
    if (key !== undefined && (key.length < 1 || key.length > 256)) {
      return refuse(400, "invalid_idempotency_key");
    }
    const request = { headers: incoming.headers, key, body: parsed.data };
    resend.requests.push(request);

    const fault = resend.fault(request);
    if (fault === "cut") return void incoming.socket.destroy();
    if (fault === "hang") return;
    if (typeof fault === "object") {
      const { status, name = "application_error", headers } = fault;
      return fault.text === undefined
        ? refuse(status, name, headers)
        : answer(status, fault.text, headers);
    }
    const before = key === undefined ? undefined : seen.get(key);
    if (before && before.body !== text) return refuse(409, "invalid_idempotent_request");
    const id = before?.id ?? randomUUID();
    resend.sent.set(id, request.body);
    if (key !== undefined) seen.set(key, { body: text, id });
    if (fault === "lose") return void incoming.socket.destroy();
    if (fault === "stall") return;
    answer(200, { id });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const resend: FakeResend = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests: [],
    sent: new Map(),
    fault: () => undefined,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
  return resend;
}
