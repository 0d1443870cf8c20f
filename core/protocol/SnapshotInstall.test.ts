import { changed } from "../../properties/cluster/Changed.ts";
import { describe, expect, it } from "vitest";
import { altered, approverIn } from "../../properties/cluster/AlteredEffects.ts";
import { crypto, founded } from "../../properties/cluster/Cluster.ts";
import { forgedBy } from "../../properties/cluster/Forging.ts";
import { register, stateOf } from "../../properties/cluster/Restoring.ts";
import { openStep, wholeStep } from "../../properties/cluster/OpenStep.ts";
import type { Digest } from "../base/Digest.ts";
import { termKeysOf } from "../commands/approvers/Terms.ts";
import type { Rows, RowView, TableName } from "../Tables.ts";
import { slotKey } from "./Tables.ts";
import type { Certificate } from "./Certificate.ts";
import type { MessageOf } from "../Message.ts";
import { proposalId } from "./Proposal.ts";
import type { SnapshotItem as Item } from "./Snapshot.ts";
import { installOffer } from "./SnapshotInstall.ts";
import type { SignedStatement } from "./Statement.ts";

describe("a page of what the others have decided", () => {
  const cluster = founded();
  register(cluster, "alice", 7);
  register(cluster, "bob", 8);
  const { view } = openStep(cluster, 3).context;
  const OTHER = "ab".repeat(32) as Digest;

  const certificateAt = (seq: number): Certificate => {
    const certificate = view.get("certificates", view.get("slots", slotKey(1, seq))?.proposalId ?? "");
    if (certificate === undefined) throw new Error(`nothing is applied in slot ${seq}`);
    return certificate;
  };
  const alice = approverIn(certificateAt(1).proposal);
  const bob = approverIn(certificateAt(2).proposal);
  cluster.replace(1, "replace", alice.ref, '"1"', { team: "b" });
  cluster.pass(1_500);
  const idAt = (seq: number): Digest => proposalId(crypto, certificateAt(seq).proposal);
  const [receipt] = certificateAt(1).receipts as [SignedStatement];

  /** The offered item of a slot: 1 registers alice, 2 bob, and 3 replaces the metadata of alice. */
  const applied = (seq: number, certificate = certificateAt(seq)): Item => ({
    key: slotKey(1, seq),
    proposalId: proposalId(crypto, certificate.proposal),
    certificate,
    writerReceipt: undefined,
  });
  /** The offered item of a slot whose aborted proposal is unknown here. */
  const aborted = (
    seq: number,
    id = OTHER,
    writerReceipt = forgedBy(cluster, 1, receipt, { proposalId: id, seq }),
  ) => ({
    key: slotKey(1, seq),
    proposalId: id,
    certificate: undefined,
    writerReceipt,
  });
  const offer = (items: ReadonlyArray<Item>, change: Partial<MessageOf<"SnapshotOffer">> = {}) => ({
    _tag: "SnapshotOffer" as const,
    recoveryId: OTHER,
    nonce: OTHER,
    after: "",
    cutoff: { topologyDigest: OTHER, root: OTHER, count: 0 },
    items,
    upTo: undefined,
    alike: undefined,
    own: undefined,
    ...change,
  });

  type Disk = ReadonlyMap<TableName, ReadonlyMap<string, unknown>>;
  const TABLES = ["slots", "certificates", "approvers", "keys", "terms", "indexed"] as const;
  /** The changes of the index with an approver. */
  const terms = (op: string, approver: Rows["approvers"]): ReadonlyArray<string> =>
    [...termKeysOf(approver, crypto)].map((key) => `${op} terms ${key}`);
  const nothing: Disk = new Map();
  /** The disk of every member, but for one row of it. */
  const all = <T extends TableName>(table?: T, key = "", row?: Rows[T]): Disk => {
    const disk = new Map(TABLES.map((each) => [each, new Map<string, unknown>()] as const));
    for (const [each, rows] of disk) for (const at of view.scan(each, "", 100)) rows.set(at.key, at.row);
    const rows = table === undefined ? undefined : (disk as Map<TableName, Map<string, unknown>>).get(table);
    if (row === undefined) rows?.delete(key);
    else rows?.set(key, row);
    return disk;
  };
  const slotOf = (change: Partial<Rows["slots"]>): Rows["slots"] => ({
    proposalId: OTHER,
    outcome: "PREPARED",
    ack: undefined,
    writerReceipt: undefined,
    ...change,
  });

  /** The result of the third member on this disk, and its changes, by operation, table and key. */
  const installed = (disk: Disk, page: MessageOf<"SnapshotOffer">) => {
    const { state, context } = openStep(cluster, 3);
    const readFrom: RowView = {
      get: (table, key) => disk.get(table)?.get(key) as never,
      scan: (table, after, limit) =>
        [...(disk.get(table) ?? [])]
          .filter(([key]) => key > after)
          .slice(0, limit)
          .map(([key, row]) => ({ key, row })) as never,
    };
    const step = wholeStep(changed(state, { highSeq: 0, highProof: undefined, decidedSeq: 0 }), {
      ...context,
      view: readFrom,
    });
    const result = installOffer(step, page);
    const { writes } = step.finish(() => undefined);
    const changes = writes.filter(({ table }) => table !== "counters");
    const rows = new Map(
      changes.map((each) => [`${each.table} ${each.key}`, each.op === "remove" ? undefined : each.row]),
    );
    return { result, state: step.state, rows, changes: changes.map(({ op, table, key }) => `${op} ${table} ${key}`) };
  };
  const CHANGED = { upTo: undefined, undone: false, isSeen: true, applied: 3, decided: 3, newest: 3 };

  it("is applied where nothing of it is there: approvers in their newest revision, and one audit row for each change", () => {
    const { result, state, rows, changes } = installed(
      nothing,
      offer([applied(1), applied(2), applied(3), aborted(4)]),
    );
    expect(result).toEqual({ ...CHANGED, decided: 4 });
    const audit = stateOf(cluster, 3).signed.audit.seq;
    expect(changes.map((each) => each.replace(/ audit .*/, " audit")).toSorted()).toEqual(
      [
        ...[1, 2, 3].map((seq) => `insert certificates ${idAt(seq)}`),
        ...[1, 2, 3, 4].map((seq) => `insert slots ${slotKey(1, seq)}`),
        ...[alice, bob].flatMap(({ ref, keyIdentity }) => [`insert approvers ${ref}`, `insert keys ${keyIdentity}`]),
        ...[alice, bob].flatMap(({ ref }) => terms("insert", view.get("approvers", ref) ?? expect.fail())),
        ...[1, 2, 3].map(() => "insert audit"),
      ].toSorted(),
    );
    expect(state.signed.audit.seq).toBe(audit + 3);
    expect(rows.get(`approvers ${alice.ref}`)).toEqual(view.get("approvers", alice.ref));
    expect(rows.get(`keys ${alice.keyIdentity}`)).toEqual({ id: "alice" });
    expect(rows.get(`certificates ${idAt(3)}`)).toEqual(certificateAt(3));
    expect(rows.get(`slots ${slotKey(1, 3)}`)).toEqual(slotOf({ proposalId: idAt(3), outcome: "APPLIED" }));
    const { writerReceipt } = aborted(4);
    expect(rows.get(`slots ${slotKey(1, 4)}`)).toEqual(slotOf({ outcome: "ABORTED", writerReceipt }));
    expect([state.undecided.highSeq, state.undecided.highProof, state.undecided.decidedSeq]).toEqual([
      4,
      writerReceipt,
      4,
    ]);
  });

  it("changes nothing where all of it is there, whatever receipts it comes with", () => {
    const [, ...others] = [1, 2, 3].map((seq) => applied(seq));
    const writersOnly = { ...certificateAt(1), receipts: certificateAt(1).receipts.slice(0, 1) };
    const { result, changes } = installed(all(), offer([applied(1, writersOnly), ...others]));
    expect([result, changes]).toEqual([{ ...CHANGED, isSeen: false }, []]);
  });

  it("leaves a newer revision where it is", () => {
    const { changes } = installed(all("certificates", idAt(1)), offer([applied(1)], { upTo: slotKey(1, 1) }));
    const audit = expect.stringContaining("insert audit") as string;
    expect(changes).toEqual([`insert certificates ${idAt(1)}`, audit]);
  });

  it("gives a key that its old incarnation had given to another approver back to its owner", () => {
    const { changes } = installed(
      all("keys", bob.keyIdentity, { id: "mallory" }),
      offer([1, 2, 3].map((seq) => applied(seq))),
    );
    expect(changes).toEqual([`replace keys ${bob.keyIdentity}`]);
  });

  describe("takes away what only this peer has", () => {
    it("of slots, certificates, approvers and their keys", () => {
      const { result, changes } = installed(all(), offer([]));
      expect(result).toEqual({ upTo: undefined, undone: true, isSeen: true, applied: 0, decided: 0, newest: 0 });
      expect(changes.toSorted()).toEqual(
        [
          ...[1, 2, 3].flatMap((seq) => [`remove certificates ${idAt(seq)}`, `remove slots ${slotKey(1, seq)}`]),
          ...[alice, bob].flatMap(({ ref, keyIdentity }) => [`remove approvers ${ref}`, `remove keys ${keyIdentity}`]),
          ...[alice, bob].flatMap(({ ref }) => terms("remove", view.get("approvers", ref) ?? expect.fail())),
        ].toSorted(),
      );
    });

    const withoutBob = [`remove approvers ${bob.ref}`, ...terms("remove", bob)];

    it.each<readonly [string, Disk, ReadonlyArray<string>]>([
      [
        "an approver that an earlier page has taken away",
        all("approvers", bob.ref),
        [`remove keys ${bob.keyIdentity}`],
      ],
      ["a key that is another's", all("keys", bob.keyIdentity, { id: "mallory" }), withoutBob],
      ["a key that is nobody's", all("keys", bob.keyIdentity), withoutBob],
    ])("but not %s", (_what, disk, kept) => {
      const { changes } = installed(disk, offer([applied(1)], { upTo: slotKey(1, 2) }));
      const gone = [`remove certificates ${idAt(2)}`, `remove slots ${slotKey(1, 2)}`];
      expect(changes.toSorted()).toEqual([...gone, ...kept].toSorted());
    });

    it("where something else is in its slot", () => {
      const { result, changes, rows } = installed(all(), offer([applied(1), aborted(2), applied(3)]));
      expect(result).toEqual({ upTo: undefined, undone: true, isSeen: true, applied: 2, decided: 3, newest: 3 });
      expect(changes.toSorted()).toEqual(
        [
          `remove certificates ${idAt(2)}`,
          ...withoutBob,
          `remove keys ${bob.keyIdentity}`,
          `replace slots ${slotKey(1, 2)}`,
        ].toSorted(),
      );
      expect(rows.get(`slots ${slotKey(1, 2)}`)).toMatchObject({ proposalId: OTHER, outcome: "ABORTED" });
    });

    it("where the others have aborted it", () => {
      const { result, rows } = installed(all(), offer([applied(1), aborted(2, idAt(2)), applied(3)]));
      expect(result).toMatchObject({ undone: true, applied: 2 });
      expect(rows.get(`slots ${slotKey(1, 2)}`)).toMatchObject({ proposalId: idAt(2), outcome: "ABORTED" });
    });

    it("of which nothing was applied, without another pass", () => {
      const own = all("slots", slotKey(1, 4), slotOf({ outcome: "REFUSED" }));
      const three = [1, 2, 3].map((seq) => applied(seq));
      expect(installed(own, offer(three))).toMatchObject({
        result: { ...CHANGED, isSeen: false },
        changes: [`remove slots ${slotKey(1, 4)}`],
      });
      const { result, rows } = installed(own, offer([...three, aborted(4)]));
      expect(result).toEqual({ ...CHANGED, isSeen: false, decided: 4 });
      expect([...rows.values()]).toMatchObject([{ proposalId: OTHER, outcome: "ABORTED" }]);
    });
  });

  it("is applied where it was aborted here, without another pass", () => {
    const disk = new Map(all("slots", slotKey(1, 2), slotOf({ proposalId: idAt(2), outcome: "ABORTED" })));
    disk.set("certificates", new Map([...(disk.get("certificates") ?? [])].filter(([id]) => id !== idAt(2))));
    const { result, rows } = installed(disk, offer([1, 2, 3].map((seq) => applied(seq))));
    expect(result).toEqual({ ...CHANGED, isSeen: false });
    expect(rows.get(`slots ${slotKey(1, 2)}`)).toEqual(slotOf({ proposalId: idAt(2), outcome: "APPLIED" }));
  });

  it("touches no slot before or behind it", () => {
    const page = offer([applied(2)], { after: slotKey(1, 1), upTo: slotKey(1, 2) });
    const { result, changes } = installed(all(), page);
    expect([result, changes]).toEqual([
      { upTo: slotKey(1, 2), undone: false, isSeen: false, applied: 1, decided: 2, newest: 2 },
      [],
    ]);
  });

  it.each([
    [127, undefined, 130],
    [128, slotKey(1, 128), 128],
    [200, slotKey(1, 128), 128],
  ])("is settled as far as there are 128 own slots: of %i to %s", (count, upTo, settled) => {
    const slots = new Map(Array.from({ length: count }, (_, at) => [slotKey(1, at + 1), slotOf({})]));
    const ends = [aborted(128), aborted(129), aborted(130)];
    const { result, rows } = installed(new Map([["slots", slots]]), offer(ends));
    expect(result).toEqual({ upTo, undone: false, isSeen: false, applied: 0, decided: settled, newest: 0 });
    const written = [...rows].filter(([, row]) => row !== undefined).map(([key]) => key);
    expect(written.at(-1)).toBe(`slots ${slotKey(1, settled)}`);
    expect(rows.size).toBe(upTo === undefined ? 130 : 128);
  });

  /** The statements that all members would have signed of another proposal. */
  const certified = (change: Partial<Certificate["proposal"]>): Certificate => {
    const proposal = { ...certificateAt(1).proposal, ...change };
    const about = { proposalId: proposalId(crypto, proposal), seq: proposal.seq };
    return {
      proposal,
      receipts: certificateAt(1).receipts.map((each) => forgedBy(cluster, each.header.peerId, each, about)),
    };
  };
  const seconds = forgedBy(cluster, 2, receipt, { proposalId: OTHER, seq: 4 });
  const forged = forgedBy(cluster, 1, receipt, { proposalId: OTHER, seq: 4 });

  it("holds where all members have signed what it says", () => {
    expect(installed(nothing, offer([applied(5, certified({ seq: 5 }))])).result).toMatchObject({ applied: 1 });
  });

  it("may leave as many slots out as can be open at once", () => {
    const { result } = installed(nothing, offer([applied(1), aborted(257)], { upTo: slotKey(1, 513) }));
    expect(result).toMatchObject({ applied: 1, decided: 257 });
  });

  it.each<readonly [string, Disk, MessageOf<"SnapshotOffer">]>([
    ["that leaves one slot more out", nothing, offer([applied(1), aborted(258)])],
    ["that begins with the last number there is", nothing, offer([aborted(Number.MAX_SAFE_INTEGER)])],
    ["that ends further on than that", nothing, offer([applied(1)], { upTo: slotKey(1, 258) })],
    ["that is out of order", nothing, offer([applied(2), applied(1)])],
    ["that has a slot twice", nothing, offer([applied(1), applied(1)])],
    ["that begins before it", nothing, offer([applied(1)], { after: slotKey(1, 1) })],
    ["that goes on behind its end", nothing, offer([applied(2)], { upTo: slotKey(1, 1) })],
    ["that ends where it begins", nothing, offer([], { after: slotKey(1, 1), upTo: slotKey(1, 1) })],
    ["of which one slot shows nothing", nothing, offer([{ ...applied(1), certificate: undefined }])],
    ["that names another proposal", nothing, offer([{ ...applied(1), proposalId: OTHER }])],
    ["that names another one, which is known", all(), offer([{ ...applied(1), proposalId: idAt(2) }])],
    ["that names another slot", nothing, offer([{ ...applied(1), key: slotKey(1, 2) }])],
    [
      "whose certificate is short of a receipt",
      nothing,
      offer([applied(1, { ...certificateAt(1), receipts: certificateAt(1).receipts.slice(0, 2) })]),
    ],
    [
      "whose certificate is known, without the writer's receipt",
      all(),
      offer([applied(1, { ...certificateAt(1), receipts: certificateAt(1).receipts.slice(1) })]),
    ],
    [
      "whose approver has the name of another credential",
      nothing,
      offer([applied(1, certified(altered(certificateAt(1).proposal, { ref: bob.ref })))]),
    ],
    ["whose effects nobody can read", nothing, offer([applied(1, certified({ effects: Uint8Array.of(0) }))])],
    ["whose command nobody knows", nothing, offer([applied(1, certified({ kind: "UNKNOWN" }))])],
    ["whose aborted slot is of another one", nothing, offer([{ ...aborted(4), key: slotKey(1, 5) }])],
    ["whose receipt is for another proposal", nothing, offer([aborted(4, idAt(1), forged)])],
    [
      "whose receipt is a vote of another kind",
      nothing,
      offer([aborted(4, OTHER, forgedBy(cluster, 1, receipt, { kind: "REFUSAL", proposalId: OTHER, seq: 4 }))]),
    ],
    ["whose receipt is not the writer's", nothing, offer([aborted(4, OTHER, seconds)])],
    [
      "whose receipt the writer has not signed",
      nothing,
      offer([aborted(4, OTHER, { ...forged, signature: seconds.signature })]),
    ],
  ])("changes nothing where it is one %s", (_which, disk, page) => {
    expect(installed(disk, page)).toMatchObject({ result: undefined, changes: [] });
  });
});
