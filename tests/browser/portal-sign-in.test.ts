import { expect, test } from "vitest";
import { expectAccessible, expectToFit, focused } from "../support/browser.ts";
import { createClientRow } from "../support/factories.ts";
import { signInHere } from "../support/portal-page.ts";
import { openProfessional, openService } from "../support/scheduling.ts";

test("a client signs in with a mailed code", async () => {
  const ana = await openProfessional();
  await openService(ana);
  const client = await createClientRow(ana);
  const page = await signInHere(ana, client, { width: 360 });
  expect(await focused(page)).toBe('h2 "Upcoming"');
  await expectAccessible(page);
  await expectToFit(page);
  console.log(await page.locator("body").innerText(), page.url());
});
