/** What the build puts in: see README, Pages. */
interface ImportMeta {
  readonly env: Record<"VITE_API_URL" | "VITE_PUBLISHABLE_KEY", string> &
    Partial<Record<"VITE_PROFESSIONAL" | "VITE_IMAGES", string>>;
}
