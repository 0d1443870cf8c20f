/** At its start a peer opens the seal of every row it has, of every kind and in every table. */
import { describe, expect, it } from "vitest";
import { SELF } from "../core/protocol/Tables.ts";
import { tableNames, type TableName, type Write } from "../core/Tables.ts";
import type { ByteStore, Change, StoredRow } from "../runtime/ByteStore.ts";
import type { ScheduleName } from "../sim/schedules/Schedules.ts";
import { runSeed } from "../sim/run/Simulation.ts";
import { implementations } from "./store/Implementations.ts";
import type { OpenedStore } from "./store/Implementation.ts";
import { integrityKeyOf, openSealed, peerRow } from "./store/SealedRows.ts";

const integrity = integrityKeyOf(1);

/** Schedules in which clusters store rows of every kind there is, run in turn until they have. */
const schedules: ReadonlyArray<ScheduleName> = [
  "equivocating-writer",
  "rollback-declared",
  "lying-session-writer",
  "keys-and-crashes",
  "promote-under-load",
];
/** No run lasts until a consent goes and this is left of it. */
const floor: Write = { op: "insert", table: "consentFloor", key: SELF, row: { expiresAt: 1_800_000_000_000 } };
/** What a run stores of these would name another first key, and a later one. */
const ours: ReadonlySet<TableName> = new Set(["peer", "integrity"]);
const MOST_SEEDS = 30;

/** One row of each kind as simulated peers stored them; the head is the store's own. */
const oneOfEach = (): ReadonlyArray<Write> => {
  const found = new Map<TableName, Write>([["consentFloor", floor]]);
  const written = (writes: ReadonlyArray<Write>): ReadonlyArray<Write> => {
    for (const write of writes) if (write.op !== "remove") found.set(write.table, { ...write, op: "insert" });
    return writes;
  };
  for (let seed = 1; seed <= MOST_SEEDS && tableNames.some((table) => !found.has(table) && !ours.has(table)); seed++)
    runSeed(
      { seed, schedule: schedules[seed % schedules.length] ?? "calm", peers: 3, crypto: "codec", steps: 400 },
      { tampering: { written: (_world, _peer, writes) => written(writes) } },
    );
  for (const table of ours) found.delete(table);
  const peer: Write = peerRow(integrity.publicKey);
  return [peer, ...found.values()];
};
const rows = oneOfEach();

const commit = (opened: OpenedStore, start: (store: ByteStore, done: (failure?: Error) => void) => void) =>
  new Promise<void>((resolve, reject) => {
    start(opened.store(), (failure) => (failure === undefined ? resolve() : reject(failure)));
    opened.advance();
  });

const withOtherSeal = ({ row, seal }: StoredRow): StoredRow => {
  const other = seal.slice();
  // The last byte belongs to the number of the transaction.
  other[other.length - 1] = (other.at(-1) ?? 0) ^ 1;
  return { row, seal: other };
};

describe.each(implementations.map(({ name, open }) => [name, open] as const))("a start on %s", (_, open) => {
  it("finds one changed byte of a seal in every table, and names the row", async () => {
    const opened = await open();
    try {
      const later = { op: "insert", table: "integrity", key: "0000000000000002" } as const;
      const row = { publicKey: integrityKeyOf(2).publicKey, blob: new Uint8Array(4) };
      await commit(opened, (store, done) => openSealed(store, integrity).commit([...rows, { ...later, row }], done));
      // A fresh layer over the bytes knows as little as a fresh process.
      const start = () => openSealed(opened.store(), integrity, integrityKeyOf(2)).verifyAll();
      expect(start()).toBeUndefined();
      // Ranges have no seals: runtime/RangedStore.test.ts.
      for (const table of tableNames.filter((each) => each !== "ranges")) {
        const [stored] = opened.store().scan(table, "", 1);
        if (stored === undefined) throw new Error(`no run stored a row of ${table}`);
        const { key, value } = stored;
        const put = (into: StoredRow): Promise<void> => {
          const change: Change = { op: "replace", table, key, value: into };
          return commit(opened, (store, done) => store.commit([change], done));
        };
        await put(withOtherSeal(value));
        expect(start()).toMatch(`${table}/${key}: the seal does not hold`);
        await put(value);
      }
      expect(start()).toBeUndefined();
    } finally {
      await opened.dispose();
    }
  });
});
