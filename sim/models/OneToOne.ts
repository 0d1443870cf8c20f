/** Names that members compute, held against what callers know them to stand for, without computing any of them. */
export class OneToOne {
  readonly #meanings = new Map<string, string>();
  readonly #names = new Map<string, string>();

  /** Whether a name has stood for this alone so far, and nothing else for this; takes note of it. */
  fits(name: string, meaning: string): boolean {
    const known = this.#meanings.get(name);
    if (known !== undefined) return known === meaning;
    if (this.#names.has(meaning)) return false;
    this.#meanings.set(name, meaning);
    this.#names.set(meaning, name);
    return true;
  }
}
