/** A static host: files of a folder by their paths and nothing else, as any of them does it. */
import { readFile, stat } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join, normalize } from "node:path";

const TYPES: Record<string, string> = {
  ".css": "text/css; charset=utf-8",
  ".html": "text/html; charset=utf-8",
  ".ico": "image/x-icon",
  ".js": "text/javascript; charset=utf-8",
  ".json": "application/json",
  ".png": "image/png",
  ".svg": "image/svg+xml",
};

export interface StaticSite {
  url: string;
  close(): Promise<void>;
}

export async function startStaticSite(folder: string, port = 0): Promise<StaticSite> {
  const server = createServer(async (request, response) => {
    const { pathname } = new URL(request.url ?? "/", "http://site.test");
    let path = join(folder, normalize(decodeURIComponent(pathname)));
    const isFolder = await stat(path).then(
      (found) => found.isDirectory(),
      () => false,
    );
    if (isFolder && !pathname.endsWith("/")) {
      response.writeHead(301, { location: `${pathname}/` }).end();
      return;
    }
    if (isFolder) path = join(path, "index.html");
    const content = await readFile(path).catch(() => undefined);
    if (!content) response.writeHead(404).end("Not found");
    else {
      const type = TYPES[extname(path)] ?? "application/octet-stream";
      response.writeHead(200, { "content-type": type }).end(content);
    }
  });
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
