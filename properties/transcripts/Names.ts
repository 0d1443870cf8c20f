/** Short names for the things in a transcript, given in the order in which they are first mentioned. */
export class Names {
  readonly #names = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  /** p1, p2, … for the proposals, s1, s2, … for the sessions. */
  of(kind: "n" | "p" | "s", id: string): string {
    const known = this.#names.get(id);
    if (known !== undefined) return known;
    const name = `${kind}${this.#next(kind)}`;
    this.#names.set(id, name);
    return name;
  }

  /** Another id of a thing that has a name. */
  alias(id: string, name: string): void {
    this.#names.set(id, name);
  }

  /** An approver, by its ref; another key under the same id has a number. */
  approver(ref: string): string {
    const known = this.#names.get(ref);
    if (known !== undefined) return known;
    const [id = ""] = ref.split("@");
    const count = this.#next(id);
    const name = count === 1 ? id : `${id}/${count}`;
    this.#names.set(ref, name);
    return name;
  }

  /** Nothing for a peer's first incarnation. */
  incarnation(peerId: number, incarnation: number): string {
    if (incarnation === 1) return "";
    const id = `incarnation ${peerId} ${incarnation}`;
    const known = this.#names.get(id);
    if (known !== undefined) return known;
    const name = ` in incarnation ${1 + this.#next(`life ${peerId}`)}`;
    this.#names.set(id, name);
    return name;
  }

  /** The thing that a name stands for. */
  idOf(name: string): string | undefined {
    return [...this.#names].find(([, each]) => each === name)?.[0];
  }

  #next(kind: string): number {
    const count = (this.#counts.get(kind) ?? 0) + 1;
    this.#counts.set(kind, count);
    return count;
  }
}
