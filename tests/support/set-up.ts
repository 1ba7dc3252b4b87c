/** Runs in front of each test file that talks to a stack. */
import { afterAll } from "vitest";
import { closeAll } from "./closing.ts";

afterAll(closeAll);
