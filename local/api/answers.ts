/** Answers with an error body of the REST service: always the same four keys. */
export function restError(
  status: number,
  error: { code: string; message: string; details?: string | null; hint?: string | null },
  headers: Record<string, string> = {},
): Response {
  const { code, message, details = null, hint = null } = error;
  return Response.json({ code, details, hint, message }, { status, headers });
}

/**
 * Bend: browsers.
 * Upstream sends CORS headers on some answers. The platform's gateway answers every preflight itself
 * and lets every origin read every answer, errors too.
 */
const methods = "GET,HEAD,PUT,PATCH,POST,DELETE,OPTIONS,TRACE,CONNECT";
const exposed = ["Content-Range", "Content-Location", "Location", "Preference-Applied"];
const exposedToAuth = ["X-Total-Count", "Link", "X-Supabase-Api-Version"];

export function isPreflight(request: Request): boolean {
  return request.method === "OPTIONS" && request.headers.has("access-control-request-method");
}

export function preflight(request: Request): Response {
  const asked = request.headers.get("access-control-request-headers");
  return new Response(null, {
    status: 200,
    headers: {
      "access-control-allow-origin": "*",
      "access-control-allow-methods": methods,
      "access-control-allow-headers": asked ?? "authorization, apikey, content-type, prefer",
      "access-control-max-age": "3600",
    },
  });
}

export function readableFromAnyOrigin(response: Response): Response {
  const headers = new Headers(response.headers);
  headers.set("access-control-allow-origin", "*");
  headers.set("access-control-expose-headers", [...exposed, ...exposedToAuth].join(", "));
  return new Response(response.body, {
    status: response.status,
    statusText: response.statusText,
    headers,
  });
}

/** The longest request body; the hosted limit is unpublished, this one bounds memory. */
export const maxBodyBytes = 5 * 1024 * 1024;

/** Reads a body, or gives up (null) as soon as it is longer than `maxBodyBytes`. */
export async function readBody(request: Request): Promise<Uint8Array<ArrayBuffer> | null> {
  if (!request.body) return new Uint8Array();
  if (Number(request.headers.get("content-length") ?? 0) > maxBodyBytes) {
    await request.body.cancel();
    return null;
  }
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body as unknown as AsyncIterable<Uint8Array>) {
    length += chunk.byteLength;
    if (length > maxBodyBytes) return null;
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}
