/** What the clock of a zone shows at an instant, and which instant a wall clock time is. */

export interface Change {
  /** The instant of the change. */
  at: number;
  /** From then on, in milliseconds ahead of UTC. */
  offset: number;
}

export interface Zone {
  toUtc(wall: number): number;
  toWall(instant: number): number;
}

export class Timeline implements Zone {
  /** `changes` in their order; `first` is the offset before them. */
  constructor(
    private readonly first: number,
    private readonly changes: readonly Change[],
  ) {}

  /**
   * RFC 5545, 3.3.5: a time that the clock shows twice is the first, and one that it leaves out is
   * told by the offset before the gap. So a change counts from the later of the two times that the
   * clock shows at it.
   */
  toUtc(wall: number): number {
    return (
      wall - this.offset((change, before) => change.at + Math.max(before, change.offset) <= wall)
    );
  }

  toWall(instant: number): number {
    return instant + this.offset((change) => change.at <= instant);
  }

  private offset(hasHappened: (change: Change, before: number) => boolean): number {
    let [low, high] = [0, this.changes.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      const change = this.changes[middle] as Change;
      if (hasHappened(change, this.changes[middle - 1]?.offset ?? this.first)) low = middle + 1;
      else high = middle;
    }
    return this.changes[low - 1]?.offset ?? this.first;
  }
}

export const UTC: Zone = new Timeline(0, []);
