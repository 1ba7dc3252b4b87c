/** What a start is doing, for whoever waits: each step as it begins, and how long it took. */

/** Does `work` as a step of that name. */
export type Step = <T>(name: string, work: () => Promise<T>) => Promise<T>;

/** For whoever does not look. */
export const quietly: Step = (_, work) => work();

const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`;

/** Since this process began. */
export const sinceStart = () => seconds(performance.now());

/** A terminal gets one line a step, a file two: what goes on must be there before it ends. */
export function stepsOn(stream: { write(text: string): unknown; isTTY?: boolean }): Step {
  const { isTTY } = stream;
  return async (name, work) => {
    const begin = performance.now();
    stream.write(`${name} …${isTTY ? " " : "\n"}`);
    try {
      const result = await work();
      const took = seconds(performance.now() - begin);
      stream.write(isTTY ? `${took}\n` : `${name}: ${took}\n`);
      return result;
    } catch (error) {
      if (isTTY) stream.write("\n");
      throw error;
    }
  };
}
