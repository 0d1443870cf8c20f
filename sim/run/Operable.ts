/** L4: once everything works, operators see it: the status of a peer says what its rows do, and its audit is whole. */
import { absurd, Either } from "effect";
import { allRows } from "../../core/protocol/AllRows.ts";
import { sealState, type StatusDetail, statusDetail } from "../../core/protocol/Status.ts";
import type { AuditRow } from "../../runtime/AuditReads.ts";
import type { Rows, RowView, TableName } from "../../core/Tables.ts";
import type { Unit } from "../base/Choices.ts";
import { Violation } from "../base/Violation.ts";
import { thresholdOf } from "../world/Operators.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import type { World } from "../world/World.ts";

const FIRST = "0".repeat(64);
const MOST_ROWS = 60;
/** More than any run leaves behind. */
const MOST_AUDITED = 1_000_000;

const wrong = ({ slot }: SimPeer, what: string): Violation =>
  new Violation("L4", "everything was healed, and is at rest", `peer ${slot} ${what}`);

/** Of a transaction whose rows are all gone, the seal has gone too. */
export const assertTidy = ({ slot, honest, disk }: SimPeer): void => {
  const seal = honest ? disk.unneededSeal : undefined;
  if (seal === undefined) return;
  throw new Violation(
    "L2",
    "what is gone leaves nothing behind",
    `peer ${slot} still has seals/${seal}, which no row needs`,
  );
};

/** What a status says of a peer at rest, by the plan and by the rows; callers may wait for their turn even then. */
const expected = ({ plan, writerSlot, product, cryptography }: World, { peerId, store }: SimPeer) =>
  ({
    peerId,
    threshold: thresholdOf(plan.peers),
    total: plan.peers,
    founding: undefined,
    approvers: product.contentsOf(cryptography.crypto, store).count,
    uncommitted: 0,
    locks: 0,
    outbox: 0,
    integrityKeyVersion: 1 + allRows(store, "integrity").length,
    integrityFault: undefined,
    quarantine: undefined,
    recovering: undefined,
    "topology.members": Array.from({ length: plan.peers }, (_, index) => index + 1),
    "topology.writer": writerSlot,
    "topology.epoch": plan.promotion === undefined ? 1 : 2,
  }) as const;

const assertStatus = (world: World, peer: SimPeer): void => {
  const { state } = peer;
  if (state === undefined) throw wrong(peer, "does not run");
  if (sealState(state) !== "UNSEALED") throw wrong(peer, `says that it is ${sealState(state)}`);
  const detail = statusDetail(state);
  if (detail === undefined) throw wrong(peer, "has no status");
  const { topology } = detail;
  for (const [name, value] of Object.entries(expected(world, peer))) {
    const said = name.startsWith("topology.")
      ? topology?.[name.slice("topology.".length) as keyof typeof topology]
      : detail[name as keyof StatusDetail];
    if (JSON.stringify(said) !== JSON.stringify(value))
      throw wrong(peer, `says that its ${name} is ${JSON.stringify(said)}, not ${JSON.stringify(value)}`);
  }
};

/** Reads the audit of a peer from a row on to the end, in pages of at most so many rows. */
const readFrom = ({ cryptography: { crypto }, operators }: World, peer: SimPeer, since: number, limit: number) => {
  const { state } = peer;
  const rows: Array<AuditRow> = [];
  if (state === undefined) return rows;
  const integrityLost = (where: string): void => {
    throw wrong(peer, `found damage in its audit at ${where}`);
  };
  for (;;) {
    const page = operators.readAudit({ view: peer.store, state, crypto, integrityLost }, since + rows.length, limit);
    if (Either.isLeft(page)) throw wrong(peer, `refuses to show its audit: ${page.left.code}`);
    if (page.right.length > limit) throw wrong(peer, `showed ${page.right.length} rows of its audit, not ${limit}`);
    if (page.right.length === 0) return rows;
    rows.push(...page.right);
  }
};

const assertAudit = (world: World, peer: SimPeer, unit: Unit): void => {
  const written = allRows(peer.store, "audit");
  const since = unit.between("from row", 1, 1, written.length);
  const shown = readFrom(world, peer, since, unit.between("rows", 20, 1, MOST_ROWS));
  if (shown.length !== written.length - since + 1)
    throw wrong(peer, `showed ${shown.length} rows of its audit from row ${since}, of ${written.length}`);
  shown.forEach(({ row, hash }, index) => {
    const seq = since + index;
    if (row.seq !== seq || row.requestId !== written[seq - 1]?.requestId || row.id !== written[seq - 1]?.id)
      throw wrong(peer, `showed another row ${seq} of its audit than it wrote`);
    const next = written[seq];
    if (next !== undefined && next.prevHash !== hash) throw wrong(peer, `says another hash of row ${seq} of its audit`);
    if (seq === 1 && row.prevHash !== FIRST) throw wrong(peer, "has an audit that follows another");
  });
};

/** What may lie there where each row holds by its seal: those of another incarnation of this peer do. */
const falsehoods = [
  "another row",
  "a row less",
  "one row twice",
  "a row of another peer",
  "another beginning",
] as const;
type Falsehood = (typeof falsehoods)[number];
const WEIGHTS: ReadonlyArray<number> = [4, 1, 1, 1, 1];

const falsified = (row: Rows["audit"], how: Falsehood): ReadonlyArray<Rows["audit"]> => {
  switch (how) {
    case "another row":
      return [{ ...row, timestamp: row.timestamp + 1 }];
    case "a row less":
      return [];
    case "one row twice":
      return [row, row];
    case "a row of another peer":
      return [{ ...row, peerId: row.peerId + 1 }];
    case "another beginning":
      return [{ ...row, prevHash: row.id }];
    default:
      return absurd(how);
  }
};

/** The rows of a peer, with something else in place of one of its audit. */
const falsifying = (rows: RowView, at: number, how: Falsehood): RowView => ({
  get: (table, key) => rows.get(table, key),
  scan: <T extends TableName>(table: T, after: string, limit: number) => {
    const page = rows.scan(table, after, limit);
    if (table !== "audit") return page;
    return page.flatMap((found) => {
      const row = found.row as Rows["audit"];
      return row.seq === at ? falsified(row, how).map((each) => ({ ...found, row: each as Rows[T] })) : [found];
    });
  },
});

/** Nothing is shown as the audit of a peer but what it wrote. */
const assertFalsehoodFound = ({ cryptography: { crypto }, operators }: World, peer: SimPeer, unit: Unit): void => {
  const { state } = peer;
  const last = state?.signed.audit.seq ?? 0;
  if (state === undefined || last === 0) return;
  const how = unit.named("audit has", "another row", falsehoods, WEIGHTS);
  const isLast = unit.chance("at its end", 500);
  const drawn = unit.between("in place of row", last, 1, last, 1, MOST_AUDITED);
  const at = how === "another beginning" ? 1 : isLast ? last : drawn;
  // The row before the first one that is shown is read as well.
  const since = Math.min(unit.between("is shown from", 1, 1, Math.min(at + 1, last), 1, MOST_AUDITED), at + 1, last);
  // That a row is another one is seen where the next one does not follow it.
  const seenAt = how === "another row" || how === "one row twice" ? Math.min(at + 1, last) : at;
  const least = Math.max(1, seenAt - since + 1);
  const most = Math.max(unit.between("rows", last, least, last, 1, MOST_AUDITED), least);
  const limit = unit.chance("as few as show it", 500) ? least : most;
  const lost: Array<string> = [];
  const integrityLost = (where: string): void => void lost.push(where);
  const shown = operators.readAudit(
    { view: falsifying(peer.store, at, how), state, crypto, integrityLost },
    since,
    limit,
  );
  const about = `${limit} rows of an audit from row ${since}, which has ${how} at ${at} of ${last}`;
  if (Either.isRight(shown)) throw wrong(peer, `showed ${about}`);
  if (shown.left.code !== "INTEGRITY_FAILURE" || lost.length !== 1)
    throw wrong(peer, `was asked for ${about}: refused as ${shown.left.code}, with ${lost.length} damages`);
};

/** Asks one peer as its operator does. */
export const assertOperable = (world: World, peer: SimPeer, unit: Unit): void => {
  if (!peer.honest || peer.state?.fitness.quarantine !== undefined) return;
  assertStatus(world, peer);
  assertAudit(world, peer, unit);
  assertFalsehoodFound(world, peer, unit);
};
