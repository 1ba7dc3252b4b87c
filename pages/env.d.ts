/** What the build puts in: see README, Pages. */
interface ImportMetaEnv {
  readonly VITE_API_URL: string;
  readonly VITE_PUBLISHABLE_KEY: string;
  /** Username, or empty. */
  readonly VITE_PROFESSIONAL: string;
  /** "1": images of any address are shown. */
  readonly VITE_IMAGES: string;
}

interface ImportMeta {
  readonly env: ImportMetaEnv;
}
