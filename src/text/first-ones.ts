/** Keeps the first items of a stream, in sort order, up to a weight of `wanted`, in memory for about twice as many. */

export class FirstOnes<Item> {
  readonly #wanted: number;
  readonly #compare: (a: Item, b: Item) => number;
  readonly #weightOf: (item: Item) => number;
  #items: Item[] = [];
  #weight = 0;
  /** Items after this one can no longer be among the first. */
  #last: Item | undefined;

  constructor(wanted: number, compare: (a: Item, b: Item) => number, weightOf: (item: Item) => number) {
    this.#wanted = wanted;
    this.#compare = compare;
    this.#weightOf = weightOf;
  }

  /** Can it be among the first? If not, callers need not build it. */
  accepts(item: Item): boolean {
    return this.#last === undefined || this.#compare(item, this.#last) < 0;
  }

  add(item: Item): void {
    if (!this.accepts(item)) return;
    this.#items.push(item);
    this.#weight += this.#weightOf(item);
    if (this.#weight > 2 * this.#wanted + 1_000) this.#cut();
  }

  sorted(): readonly Item[] {
    this.#cut();
    return this.#items;
  }

  #cut(): void {
    this.#items.sort(this.#compare);
    let weight = 0;
    let kept = 0;
    for (; kept < this.#items.length && weight < this.#wanted; kept += 1) {
      const item = this.#items[kept];
      if (item !== undefined) weight += this.#weightOf(item);
    }
    if (weight < this.#wanted) return;
    this.#last = this.#items[kept - 1];
    this.#items = this.#items.slice(0, kept);
    this.#weight = weight;
  }
}
