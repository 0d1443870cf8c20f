/** Approvers that callers were told of, as far as they remember them: each with the record last shown. */
import type { Commands, Replacement } from "../../sim/requests/Commands.ts";
import { guesses, ifMatchOf } from "../../sim/requests/IfMatch.ts";
import type { Chance } from "./Chance.ts";

const REMEMBERED = 256;

/** A record as it was shown. */
export interface Kept {
  readonly revision: number;
  readonly text: string;
}

export class Promised {
  readonly #commands: Commands;
  readonly #refs: Array<string> = [];
  readonly #kept = new Map<string, Kept>();
  #told = 0;
  #nextTeam = 1;

  constructor(commands: Commands) {
    this.#commands = commands;
  }

  /** A caller was told of an approver. */
  told(ref: string, kept: Kept): void {
    if (this.#kept.has(ref)) return this.read(ref, kept);
    const at = this.#told++ % REMEMBERED;
    this.#kept.delete(this.#refs[at] ?? "");
    this.#refs[at] = ref;
    this.#kept.set(ref, kept);
  }

  /** An approver was read; what was shown before may be newer than what this peer has. */
  read(ref: string, kept: Kept): void {
    const before = this.#kept.get(ref);
    if (before !== undefined && kept.revision >= before.revision) this.#kept.set(ref, kept);
  }

  any(random: Chance): string | undefined {
    return this.#refs[random.below(Math.max(1, this.#refs.length))];
  }

  /** All that are remembered under the id of this one. */
  versionsOf(ref: string): ReadonlyArray<string> {
    const begin = ref.slice(0, ref.indexOf("@") + 1);
    return this.#refs.filter((each) => each.startsWith(begin));
  }

  kept(ref: string): Kept | undefined {
    return this.#kept.get(ref);
  }

  /**
   * Replacements of one approver's metadata, to be sent at once: one, or rivals for the same revision. Now and then the
   * revision is another one, or If-Match is no revision at all. Each has metadata of its own, or none.
   */
  replacements(random: Chance, ref: string): ReadonlyArray<Replacement> {
    const { revision } = this.#kept.get(ref) ?? { revision: 1 };
    const guess = random.happens(150) ? random.pick(guesses) : "that";
    const one = (): Replacement =>
      this.#commands.replacement(ref, ifMatchOf(guess, revision), random.happens(100) ? undefined : this.#team());
    return Array.from({ length: random.happens(300) ? random.between(2, 3) : 1 }, one);
  }

  /** A replacement of the record last shown. */
  replacement(ref: string): Replacement {
    return this.#commands.replacement(ref, ifMatchOf("that", this.#kept.get(ref)?.revision ?? 1), this.#team());
  }

  #team(): string {
    return `team-of-change-${this.#nextTeam++}`;
  }
}
