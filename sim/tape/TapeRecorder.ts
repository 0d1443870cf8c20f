/** Writes down every draw of a run; another decider may have the last word on them. */
import type { Decider, Unit } from "../base/Choices.ts";
import { type Bounds, deviates, type RecordedDraw, type RecordedUnit, type Value } from "./Tape.ts";

interface Growing extends RecordedUnit {
  readonly draws: Array<RecordedDraw>;
}

export class TapeRecorder implements Decider {
  readonly #units: Array<Growing> = [];
  readonly #byUnit = new WeakMap<Unit, Growing>();
  readonly #inner: Decider | undefined;
  readonly #began: ((unit: RecordedUnit) => void) | undefined;

  /**
   * @param inner decides; without it the seed does
   * @param began is told of every unit at its first draw
   */
  constructor(inner?: Decider, began?: (unit: RecordedUnit) => void) {
    this.#inner = inner;
    this.#began = began;
  }

  /** Every unit that was drawn from, in the order of their first draws. */
  get units(): ReadonlyArray<RecordedUnit> {
    return this.#units;
  }

  /** Those that are not quiet. */
  get deviations(): ReadonlyArray<RecordedUnit> {
    return this.#units.filter(deviates);
  }

  whole(unit: Unit, label: string, drawn: number, quiet: number, floor: number, ceiling: number): number {
    const value = this.#inner?.whole(unit, label, drawn, quiet, floor, ceiling) ?? drawn;
    this.#note(unit, label, [floor, ceiling], value, quiet);
    return value;
  }

  flag(unit: Unit, label: string, drawn: boolean): boolean {
    const value = this.#inner?.flag(unit, label, drawn) ?? drawn;
    this.#note(unit, label, undefined, value, false);
    return value;
  }

  named(unit: Unit, label: string, drawn: number, quiet: number, names: ReadonlyArray<string>): number {
    const value = this.#inner?.named(unit, label, drawn, quiet, names) ?? drawn;
    this.#note(unit, label, undefined, names[value] ?? "", names[quiet] ?? "");
    return value;
  }

  #note(unit: Unit, label: string, bounds: Bounds, value: Value, quiet: Value): void {
    const draw = { label, bounds, value, quiet };
    const known = this.#byUnit.get(unit);
    if (known !== undefined) {
      known.draws.push(draw);
      return;
    }
    const { stream, ordinal } = unit;
    const fresh = { stream, ordinal, draws: [draw] };
    this.#units.push(fresh);
    this.#byUnit.set(unit, fresh);
    this.#began?.(fresh);
  }
}
