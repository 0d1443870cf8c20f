/**
 * What happened, one line per event, and a hash over all of it. The hash is the same whether or not lines are kept: it
 * is made from the parts of the line.
 */
import { Mixer } from "../base/Mixer.ts";

export class Trace {
  readonly #mixer = new Mixer();
  readonly #words = new Map<string, number>();
  readonly #write: ((line: string) => void) | undefined;
  #newWord: (word: string) => void = () => undefined;

  /** @param write takes each line as it happens; without it only the hash is kept */
  constructor(write?: (line: string) => void) {
    this.#write = write;
  }

  /**
   * @param listener is told of each word before it is in a line for the first time; every line is made of words and
   *   numbers. It is handed over and not assigned: V8 makes a function that is assigned to a property where it is
   *   written in the old generation, and it keeps all it can reach from every collection of young objects.
   */
  tellNewWords(listener: (word: string) => void): void {
    this.#newWord = listener;
  }

  /**
   * Records one happening.
   *
   * @param at microseconds of virtual time
   * @param who a peer's number
   * @param what one of few words, mixed by its number
   * @param detail one of few words too; never holds a secret (S29 reads each once)
   * @param other a number that belongs to it: another peer, a request, a count of rows
   */
  note(at: number, who: number, what: string, detail: string, other: number): void {
    const mixer = this.#mixer;
    const whatWord = this.#wordOf(what);
    const detailWord = this.#wordOf(detail);
    mixer.uint(at);
    mixer.word(who);
    mixer.word(whatWord);
    mixer.word(detailWord);
    mixer.uint(other);
    this.#write?.(`${String(at).padStart(12)} peer ${who} ${what} ${detail} ${other}`);
  }

  /** The number of a word is its hash, not its turn, so that it is the same in every process. */
  #wordOf(text: string): number {
    const known = this.#words.get(text);
    if (known !== undefined) return known;
    this.#newWord(text);
    const mixer = new Mixer();
    mixer.text(text);
    this.#words.set(text, mixer.first);
    return mixer.first;
  }

  /** 16 hexadecimal characters over everything noted so far. */
  get hash(): string {
    return this.#mixer.hash;
  }
}
