/** What the build puts in, or an empty text: see README, Pages. */
type Variable = "VITE_API_URL" | "VITE_PUBLISHABLE_KEY" | "VITE_PROFESSIONAL" | "VITE_IMAGES";

interface ImportMeta {
  readonly env: Record<Variable, string>;
}
