/** How much a reading may take, in steps: the same on every machine, where seconds are not. */
import { Refusal } from "./refusal.ts";

export class Budget {
  spent = 0;

  constructor(private readonly limit: number) {}

  spend(steps: number): void {
    this.spent += steps;
    if (this.spent > this.limit) throw new Refusal("too_complex");
  }
}
