import { expect, test } from "vitest";
import { stepsOn } from "../../../local/progress.ts";

/** What a stream has got. */
function written(isTTY: boolean) {
  const texts: string[] = [];
  const step = stepsOn({ isTTY, write: (text) => texts.push(text) });
  return { step, texts };
}

test.each([
  [true, ["Waiting … ", expect.stringMatching(/^\d+\.\d s\n$/)]],
  [false, ["Waiting …\n", expect.stringMatching(/^Waiting: \d+\.\d s\n$/)]],
])("a step is said when it begins and when it ends (terminal: %s)", async (isTTY, expected) => {
  const { step, texts } = written(isTTY);
  const answer = await step("Waiting", async () => {
    expect(texts).toEqual(expected.slice(0, 1));
    return 42;
  });
  expect(answer).toBe(42);
  expect(texts).toEqual(expected);
});

test("a step that fails leaves the line to the error", async () => {
  const { step, texts } = written(true);
  await expect(step("Waiting", () => Promise.reject(new Error("no")))).rejects.toThrow("no");
  expect(texts).toEqual(["Waiting … ", "\n"]);
});
