/** Tests that the tables have in common, for the test file of each. */
import { randomUUID } from "node:crypto";
import { describe, expect, test } from "vitest";
import { serverClaims, updateRefusedBy, type Values } from "./constraints.ts";
import { createProfessional } from "./factories.ts";

export const chars = (count: number) => "a".repeat(count);

/** A constraint of a column, with the last values that it accepts and the first ones that it does not. */
export type Bounds = [constraint: string, column: string, accepted: unknown[], refused: unknown[]];

/** `write` says what refused a row with these values. */
export function testBounds(
  bounds: Bounds[],
  write: (values: Values) => Promise<string | null>,
): void {
  describe.each(bounds)("%s", (constraint, column, accepted, refused) => {
    test(`is what ${column} obeys: its bounds, and nothing beyond`, async () => {
      for (const value of accepted) {
        expect([value, await write({ [column]: value })]).toEqual([value, null]);
      }
      for (const value of refused) {
        expect([value, await write({ [column]: value })]).toEqual([value, constraint]);
      }
    });
  });
}

/** Each test takes a row of its own. */
export function testIdentity(
  table: string,
  createRow: () => Promise<{ id: string; created_at: string; professional_id: string }>,
): void {
  test.each(["id", "created_at", "professional_id"] as const)(
    "a server cannot change %s",
    async (column) => {
      const [row, other] = await Promise.all([createRow(), createProfessional()]);
      const write = (value: string) =>
        updateRefusedBy(serverClaims, table, row.id, { [column]: value });
      const value = {
        id: randomUUID(),
        created_at: "2020-01-01T00:00:00Z",
        professional_id: other.id,
      }[column];
      expect(await write(value)).toBe(`${table}_identity_never_changes`);
      expect(await write(row[column])).toBeNull();
    },
  );
}
