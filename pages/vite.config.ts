/**
 * The build of the pages: `npm run build:pages`, with the variables that README lists, and `npm start`,
 * with the address and key of its own stack.
 */
import { fileURLToPath } from "node:url";
import { defineConfig, loadEnv, type Plugin } from "vite";

const ROOT = fileURLToPath(new URL(".", import.meta.url));

/**
 * What a page may load and whom it may call: its own files and the API. Nobody else hears of a visit. Only in what is
 * built: the development server sends styles as scripts that write them.
 */
function policyPlugin(apiUrl: string, hasImages: boolean): Plugin {
  const policy = [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    `img-src 'self'${hasImages ? " https:" : ""}`,
    `connect-src 'self' ${new URL(apiUrl).origin}`,
    "form-action 'none'",
    "base-uri 'none'",
  ];
  const tag = `<meta http-equiv="Content-Security-Policy" content="${policy.join("; ")}">`;
  const transformIndexHtml = (html: string) => html.replace("<head>", `<head>${tag}`);
  return { name: "content-security-policy", apply: "build", transformIndexHtml };
}

export default defineConfig(({ mode }) => {
  const { VITE_API_URL, VITE_PUBLISHABLE_KEY, VITE_IMAGES } = loadEnv(mode, ROOT, "VITE_");
  if (!VITE_API_URL || !VITE_PUBLISHABLE_KEY) {
    throw new Error("Set VITE_API_URL and VITE_PUBLISHABLE_KEY: README, Pages.");
  }
  return {
    root: ROOT,
    // Relative addresses work below any folder of a host.
    base: "./",
    oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
    plugins: [policyPlugin(VITE_API_URL, VITE_IMAGES === "1")],
    build: {
      outDir: "dist",
      emptyOutDir: true,
      // Whatever is inlined the policy refuses.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      rolldownOptions: { input: ["", "portal/", "day/"].map((page) => `${ROOT}${page}index.html`) },
    },
  };
});
