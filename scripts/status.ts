/** `npm run status`: addresses and keys of the running stack, to be read by a shell. */
import { runningStack } from "../local/state.ts";

const stack = await runningStack();
if (stack?.phase === "ready" && stack.env) {
  for (const [name, value] of Object.entries(stack.env)) console.log(`${name}="${value}"`);
} else {
  console.error(
    stack ? `The stack is ${stack.phase}.` : "The stack is not running: `npm start` starts it.",
  );
  process.exitCode = 1;
}
