/**
 * What happened, one line per event, and a hash over all of it. The hash is the
 * same whether lines are kept or not: it is made from the parts of the line.
 */
import { Mixer } from "./Mixer.ts";

export class Trace {
  readonly #mixer = new Mixer();
  readonly #write: ((line: string) => void) | undefined;

  /** @param write takes each line as it happens; without it only the hash is kept */
  constructor(write?: (line: string) => void) {
    this.#write = write;
  }

  /**
   * Records one happening.
   *
   * @param at microseconds of virtual time
   * @param who a peer's number, 0 for the world
   * @param detail never holds a secret (S29 reads it too)
   */
  note(at: number, what: string, who: number, detail: string): void {
    const mixer = this.#mixer;
    mixer.uint(at);
    mixer.text(what);
    mixer.word(who);
    mixer.text(detail);
    this.#write?.(`${String(at).padStart(12)} ${what} ${who === 0 ? "world" : `peer ${who}`} ${detail}`);
  }

  /** 16 hexadecimal characters over everything noted so far. */
  get hash(): string {
    return this.#mixer.hash;
  }
}
