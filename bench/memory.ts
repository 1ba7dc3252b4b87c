/** How much memory the local stack takes, idle and while 16 callers ask it all the time. */
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { type ChildStack, type Memory, memoryOf } from "./child-stack.ts";
import { createProfessional, request } from "./people.ts";

export interface MemoryReport {
  idle: Record<string, Memory>;
  loaded: Record<string, Memory>;
  /** Requests answered a second meanwhile, all through the gateway. */
  requestsPerSecond: number;
}

const CALLERS = 16;

export async function measureMemory(stack: ChildStack, quick: boolean): Promise<MemoryReport> {
  const sql = postgres(stack.adminUrl, { max: 1, onnotice: () => {} });
  try {
    const professional = await createProfessional(sql, stack.env);
    const { token } = professional;
    // Every function is loaded once, and what starting took is collected.
    for (const name of ["send-portal-otp", "verify-portal-otp", "webhooks"]) {
      await request(stack.env, "OPTIONS", `/functions/v1/${name}`);
    }
    await sleep(quick ? 1_000 : 10_000);
    const idle = memoryOf(stack.pid);

    let answered = 0;
    const end = performance.now() + (quick ? 2_000 : 20_000);
    const work = Array.from({ length: CALLERS }, async () => {
      for (let turn = 0; performance.now() < end; turn++) {
        const answer =
          turn % 4 === 0
            ? await request(stack.env, "POST", "/rest/v1/clients", {
                token,
                body: { name: "Marta" },
              })
            : turn % 4 === 1
              ? await request(stack.env, "GET", "/functions/v1/webhooks/endpoints", { token })
              : await request(stack.env, "GET", "/rest/v1/clients?limit=50", { token });
        await answer.arrayBuffer();
        if (answer.ok) answered++;
      }
    });
    await sleep(quick ? 1_500 : 18_000);
    const loaded = memoryOf(stack.pid);
    await Promise.all(work);
    return { idle, loaded, requestsPerSecond: answered / (quick ? 2 : 20) };
  } finally {
    await sql.end();
  }
}
