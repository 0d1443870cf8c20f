/** Decides as a tape says, and says where the tape no longer fits the code. */
import { Interruption } from "../run/Interruption.ts";
import type { Decider, Unit } from "../base/Choices.ts";
import { type Bounds, type Tape, type TapeDraw, type TapeUnit, unitName, type Value } from "./Tape.ts";

/** The code draws something else than the tape has. */
export class TapeMismatch extends Interruption {
  override readonly name = "TapeMismatch";
}

interface Playing {
  readonly unit: TapeUnit;
  next: number;
}

const said = (label: string, bounds: Bounds): string =>
  bounds === undefined ? `"${label}"` : `"${label}" from ${bounds[0]} to ${bounds[1]}`;

export class TapePlayer implements Decider {
  readonly #playing = new Map<string, Playing>();
  readonly #sparse: boolean;

  constructor({ units, sparse }: Pick<Tape, "units" | "sparse">) {
    for (const unit of units) this.#playing.set(unitName(unit), { unit, next: 0 });
    this.#sparse = sparse;
  }

  whole(unit: Unit, label: string, _drawn: number, quiet: number, floor: number, ceiling: number): number {
    const draw = this.#next(unit, label, [floor, ceiling]);
    if (draw === undefined) return quiet;
    const { value } = draw;
    if (typeof value !== "number" || value < floor || value > ceiling) return this.#unlawful(unit, draw);
    return value;
  }

  flag(unit: Unit, label: string): boolean {
    const draw = this.#next(unit, label, undefined);
    if (draw === undefined) return false;
    return typeof draw.value === "boolean" ? draw.value : this.#unlawful(unit, draw);
  }

  named(unit: Unit, label: string, _drawn: number, quiet: number, names: ReadonlyArray<string>): number {
    const draw = this.#next(unit, label, undefined);
    if (draw === undefined) return quiet;
    const at = typeof draw.value === "string" ? names.indexOf(draw.value) : -1;
    return at < 0 ? this.#unlawful(unit, draw) : at;
  }

  /** To be called after the run: throws where the tape has draws that the run never reached. */
  assertPlayed(): void {
    for (const { unit, next } of this.#playing.values()) {
      const draw = unit.draws[next];
      if (draw !== undefined)
        throw new TapeMismatch(
          `unit "${unitName(unit)}", draw ${next + 1}: the tape has ${said(draw.label, draw.bounds)}, the run never came to it`,
        );
    }
  }

  /** The draw the tape has here; undefined where it leaves the unit quiet. */
  #next(unit: Unit, label: string, bounds: Bounds): TapeDraw | undefined {
    const playing = this.#playing.get(unitName(unit));
    if (playing === undefined) {
      if (this.#sparse) return undefined;
      throw new TapeMismatch(`unit "${unitName(unit)}" is not on the tape; the code draws ${said(label, bounds)}`);
    }
    const draw = playing.unit.draws[playing.next];
    playing.next += 1;
    const isSame = draw?.label === label && draw.bounds?.[0] === bounds?.[0] && draw.bounds?.[1] === bounds?.[1];
    if (draw !== undefined && isSame) return draw;
    const onTape = draw === undefined ? "no more draws" : said(draw.label, draw.bounds);
    throw new TapeMismatch(
      `unit "${unitName(unit)}", draw ${playing.next}: the tape has ${onTape}, the code draws ${said(label, bounds)}`,
    );
  }

  #unlawful(unit: Unit, { label, value }: { readonly label: string; readonly value: Value }): never {
    const { next = 0 } = this.#playing.get(unitName(unit)) ?? {};
    throw new TapeMismatch(`unit "${unitName(unit)}", draw ${next}: the code has no value ${value} for "${label}"`);
  }
}
