/**
 * The build of the pages: `npm run build:pages`, with the variables that README lists, and `npm start`,
 * with the address and key of its own stack.
 */
import { fileURLToPath } from "node:url";
import { defineConfig, type InlineConfig, loadEnv, type Plugin } from "vite";

const ROOT = fileURLToPath(new URL(".", import.meta.url));

export interface PagesOptions {
  /** Address of the API, without a slash at its end. */
  apiUrl: string;
  publishableKey: string;
  /** Whose page it is when the address names nobody. */
  professional?: string | undefined;
  /** Shows images from any address, which then learns of every visitor. */
  images?: boolean;
}

/** What a page may load and whom it may call: its own files and the API. Nobody else hears of a visit. */
export function contentSecurityPolicy({ apiUrl, images = false }: PagesOptions): string {
  return [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self'${images ? " https:" : ""}`,
    `connect-src 'self' ${new URL(apiUrl).origin}`,
    "form-action 'none'",
    "base-uri 'none'",
  ].join("; ");
}

/** Only in what is built: the development server sends styles as scripts that write them. */
const policyPlugin = (content: string): Plugin => ({
  name: "content-security-policy",
  apply: "build",
  transformIndexHtml: () => [
    {
      tag: "meta",
      attrs: { "http-equiv": "Content-Security-Policy", content },
      injectTo: "head-prepend",
    },
  ],
});

export function pagesConfig(options: PagesOptions): InlineConfig {
  const { apiUrl, publishableKey, professional = "", images = false } = options;
  return {
    configFile: false,
    root: ROOT,
    // Relative addresses work below any folder of a host.
    base: "./",
    define: {
      "import.meta.env.VITE_API_URL": JSON.stringify(apiUrl.replace(/\/+$/, "")),
      "import.meta.env.VITE_PUBLISHABLE_KEY": JSON.stringify(publishableKey),
      "import.meta.env.VITE_PROFESSIONAL": JSON.stringify(professional),
      "import.meta.env.VITE_IMAGES": JSON.stringify(images ? "1" : ""),
    },
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    plugins: [policyPlugin(contentSecurityPolicy(options))],
    build: {
      outDir: "dist",
      emptyOutDir: true,
      // Whatever is inlined the policy refuses.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      rolldownOptions: {
        input: ["index.html", "portal/index.html", "day/index.html"].map((name) => ROOT + name),
      },
    },
  };
}

export default defineConfig(({ mode }) => {
  const env = loadEnv(mode, ROOT, "VITE_");
  const { VITE_API_URL: apiUrl, VITE_PUBLISHABLE_KEY: publishableKey } = env;
  if (!apiUrl || !publishableKey) {
    throw new Error("Set VITE_API_URL and VITE_PUBLISHABLE_KEY: README, Pages.");
  }
  const images = env.VITE_IMAGES === "1";
  return pagesConfig({ apiUrl, publishableKey, professional: env.VITE_PROFESSIONAL, images });
});
