/**
 * Decides by wishes: a unit draws what it drew in another run, as far as it still can, and everything else is quiet.
 * Where one unit is taken away others may make other draws, so a wish is found by its label and brought within its
 * bounds.
 */
import type { Decider, Unit } from "../base/Choices.ts";
import { type TapeDraw, type TapeUnit, unitName } from "../tape/Tape.ts";

export class WishDecider implements Decider {
  readonly #wishes = new Map<string, ReadonlyArray<TapeDraw>>();
  /** Draws of a unit that were used already, where labels repeat. */
  readonly #used = new Map<string, Set<TapeDraw>>();

  constructor(units: ReadonlyArray<TapeUnit>) {
    for (const unit of units) this.#wishes.set(unitName(unit), unit.draws);
  }

  whole(unit: Unit, label: string, _drawn: number, quiet: number, floor: number, ceiling: number): number {
    const value = this.#wish(unit, label)?.value;
    return typeof value === "number" ? Math.min(Math.max(value, floor), ceiling) : quiet;
  }

  flag(unit: Unit, label: string): boolean {
    return this.#wish(unit, label)?.value === true;
  }

  named(unit: Unit, label: string, _drawn: number, quiet: number, names: ReadonlyArray<string>): number {
    const value = this.#wish(unit, label)?.value;
    const at = typeof value === "string" ? names.indexOf(value) : -1;
    return at < 0 ? quiet : at;
  }

  #wish(unit: Unit, label: string): TapeDraw | undefined {
    const name = unitName(unit);
    const draws = this.#wishes.get(name);
    if (draws === undefined) return undefined;
    const used = this.#used.get(name) ?? new Set();
    const wish = draws.find((draw) => draw.label === label && !used.has(draw));
    if (wish === undefined) return undefined;
    this.#used.set(name, used.add(wish));
    return wish;
  }
}
