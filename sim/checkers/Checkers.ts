/** Every checker of a run. A new one adds itself here and in docs/invariants.md. */
import { IntegrityFailure } from "../../runtime/PeerStore.ts";
import { INVITATION_MARKS, TOKEN_MARKS } from "../crypto/SecretMarks.ts";
import type { Checker, Watched } from "./Checker.ts";
import { K1 } from "./K1.ts";
import { K2 } from "./K2.ts";
import { K4 } from "./K4.ts";
import { K5 } from "./K5.ts";
import { K5b } from "./K5b.ts";
import { K6 } from "./K6.ts";
import { K7 } from "./K7.ts";
import { K8 } from "./K8.ts";
import { K9 } from "./K9.ts";
import { K11 } from "./K11.ts";
import { K14 } from "./K14.ts";
import { K15 } from "./K15.ts";
import { K16 } from "./K16.ts";
import { K17 } from "./K17.ts";
import { K18 } from "./K18.ts";
import { K19 } from "./K19.ts";
import { K20 } from "./K20.ts";
import { K21 } from "./K21.ts";
import { K22 } from "./K22.ts";
import { HeldSecrets } from "../crypto/HeldSecrets.ts";
import { L8 } from "./L8.ts";
import { L10 } from "./L10.ts";
import { S1 } from "./S1.ts";
import { S2 } from "./S2.ts";
import { S3 } from "./S3.ts";
import { S4 } from "./S4.ts";
import { S5 } from "./S5.ts";
import { S6 } from "./S6.ts";
import { S7 } from "./S7.ts";
import { S8 } from "./S8.ts";
import { S9 } from "./S9.ts";
import { S10 } from "./S10.ts";
import { S11 } from "./S11.ts";
import { S12 } from "./S12.ts";
import { S13 } from "./S13.ts";
import { S14 } from "./S14.ts";
import { S15 } from "./S15.ts";
import { S16 } from "./S16.ts";
import { S17 } from "./S17.ts";
import { S18 } from "./S18.ts";
import { S19 } from "./S19.ts";
import { S20 } from "./S20.ts";
import { S21 } from "./S21.ts";
import { S22 } from "./S22.ts";
import { S23 } from "./S23.ts";
import { S24 } from "./S24.ts";
import { S25 } from "./S25.ts";
import { S26 } from "./S26.ts";
import { S27 } from "./S27.ts";
import { S28 } from "./S28.ts";
import { S29 } from "./S29.ts";
import { S30 } from "./S30.ts";
import { S31 } from "./S31.ts";
import { S32 } from "./S32.ts";
import { S34 } from "./S34.ts";
import { S40 } from "./S40.ts";
import { S41 } from "./S41.ts";
import { S44 } from "./S44.ts";
import { S48 } from "./S48.ts";
import { S49 } from "./S49.ts";
import { S50 } from "./S50.ts";
import { S51 } from "./S51.ts";
import { S52 } from "./S52.ts";
import { S53 } from "./S53.ts";
import { S54 } from "./S54.ts";
import { S55 } from "./S55.ts";
import { S56 } from "./S56.ts";
import { S57 } from "./S57.ts";
import { S58 } from "./S58.ts";
import { S59 } from "./S59.ts";
import { S60 } from "./S60.ts";
import { S61 } from "./S61.ts";
import { S62 } from "./S62.ts";
import { S64 } from "./S64.ts";
import { S65 } from "./S65.ts";
import type { TableName, Write } from "../../core/Tables.ts";
import type { Ghost } from "./Ghost.ts";
import type { Oracle } from "../oracle/Oracle.ts";

type Hook = Exclude<keyof Checker, "id" | "written">;
type RowHook = (peer: Watched, write: Write, writes: ReadonlyArray<Write>) => void;

const makers: ReadonlyArray<
  readonly [
    id: string,
    make: (ghost: Ghost, oracle: Oracle, secrets: ReadonlyArray<string>, ofKeys: HeldSecrets) => Checker,
  ]
> = [
  ["S1", S1],
  ["S2", S2],
  ["S3", S3],
  ["S4", S4],
  ["S5", S5],
  ["S6", S6],
  ["S7", S7],
  ["S8", S8],
  ["S9", S9],
  ["S10", S10],
  ["S11", S11],
  ["S12", S12],
  ["S13", S13],
  ["S14", S14],
  ["S15", S15],
  ["S16", S16],
  ["S17", S17],
  ["S18", S18],
  ["S19", S19],
  ["S20", S20],
  ["S21", S21],
  ["S22", S22],
  ["S23", S23],
  ["S24", S24],
  ["S25", S25],
  ["S26", S26],
  ["S27", S27],
  ["S28", S28],
  ["S29", (_ghost, _oracle, secrets) => S29(secrets)],
  ["S30", S30],
  ["S31", S31],
  ["S32", S32],
  ["S34", S34],
  ["S40", S40],
  ["S41", S41],
  ["S44", S44],
  ["S48", S48],
  ["S49", S49],
  ["S50", S50],
  ["S51", S51],
  ["S52", S52],
  ["S53", S53],
  ["S54", S54],
  ["S55", S55],
  ["S56", S56],
  ["S57", S57],
  ["S58", S58],
  ["S59", S59],
  ["S60", S60],
  ["S61", S61],
  ["S62", S62],
  ["S64", S64],
  ["S65", S65],
  ["K1", K1],
  ["K2", K2],
  ["K4", K4],
  ["K5", (_ghost, _oracle, _secrets, ofKeys) => K5(ofKeys)],
  ["K5b", K5b],
  ["K6", K6],
  ["K7", K7],
  ["K8", K8],
  ["K9", K9],
  ["K11", K11],
  ["K14", K14],
  ["K15", K15],
  ["K16", K16],
  ["K17", K17],
  ["K18", K18],
  ["K19", K19],
  ["K20", K20],
  ["K21", K21],
  ["K22", K22],
  ["L8", L8],
  ["L10", L10],
];

/** The ids of all checkers, in the order in which they look. */
export const checkerIds: ReadonlyArray<string> = makers.map(([id]) => id);

const asFarAsReadable = (look: () => void): void => {
  try {
    look();
  } catch (fault) {
    if (!(fault instanceof IntegrityFailure)) throw fault;
  }
};

/** The checkers of one run, each called only at the moments it asked for. */
export class Checkers {
  readonly #all: ReadonlyArray<Checker>;
  readonly #written: ReadonlyMap<TableName, ReadonlyArray<RowHook>>;
  readonly #flushed: ReadonlyArray<NonNullable<Checker["flushed"]>>;

  /**
   * @param secrets marks of what must never be stored, answered or logged
   * @param unseen checkers that would judge by what is not shown here
   * @param ofKeys those of keys that peers have computed with by now
   */
  constructor(
    ghost: Ghost,
    oracle: Oracle,
    ofKeys = new HeldSecrets(),
    secrets: ReadonlyArray<string> = [...TOKEN_MARKS, ...INVITATION_MARKS],
    unseen: ReadonlySet<string> = new Set(),
  ) {
    this.#all = makers.flatMap(([id, make]) => (unseen.has(id) ? [] : [make(ghost, oracle, secrets, ofKeys)]));
    // A hook is called with changes of the table it is found under, and with no others.
    const rowHooks = (table: TableName) => this.#all.flatMap(({ written }) => (written?.[table] as RowHook) ?? []);
    const tableNames = ghost.product.composition.tables.names as ReadonlyArray<TableName>;
    this.#written = new Map(tableNames.map((table) => [table, rowHooks(table)]));
    this.#flushed = this.hooks("flushed");
  }

  /** Shows a transaction that has become durable to the checkers that look at one or at its rows. */
  flushed(peer: Watched, writes: ReadonlyArray<Write>): void {
    if (peer.isDamaged) return this.#flushedDamaged(peer, writes);
    for (const write of writes) for (const hook of this.#written.get(write.table) ?? []) hook(peer, write, writes);
    for (const hook of this.#flushed) hook(peer, writes);
  }

  /** The same of a disk damaged since: a checker that needs a row that no longer holds has nothing to judge by. */
  #flushedDamaged(peer: Watched, writes: ReadonlyArray<Write>): void {
    for (const write of writes)
      for (const hook of this.#written.get(write.table) ?? []) asFarAsReadable(() => hook(peer, write, writes));
    for (const hook of this.#flushed) asFarAsReadable(() => hook(peer, writes));
  }

  /** The checkers that look at one of these kinds of moments; `written` and `flushed` are one kind. */
  heeding(kinds: ReadonlyArray<Hook>): ReadonlyArray<string> {
    const asked = (each: Checker): boolean =>
      kinds.some((kind) => each[kind] !== undefined || (kind === "flushed" && each.written !== undefined));
    return this.#all.filter(asked).map(({ id }) => id);
  }

  /** The hooks of one kind, in the order of the checkers. */
  hooks<H extends Hook>(hook: H): ReadonlyArray<NonNullable<Checker[H]>> {
    return this.#all.flatMap((each) => each[hook] ?? []);
  }
}
