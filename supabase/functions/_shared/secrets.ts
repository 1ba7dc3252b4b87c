/** Comparing a key with ours without telling by the time how much of it was right. */
const digest = async (text: string) =>
  new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text)));

/** Compares digests, which have one length and share no beginning with what was guessed. */
export function secretCheck(secret: string): (key: string) => Promise<boolean> {
  const expected = digest(secret);
  return async (key) => {
    const [ours, theirs] = [await expected, await digest(key)];
    return (
      ours.reduce((difference, byte, i) => difference | (byte ^ (theirs[i] as number)), 0) === 0
    );
  };
}
