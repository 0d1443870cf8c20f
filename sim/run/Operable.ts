/** L4: once everything works, operators see it: the status of a peer says what its rows do, and its audit is whole. */
import { Either } from "effect";
import { allRows } from "../../core/protocol/AllRows.ts";
import { sealState, type StatusDetail, statusDetail } from "../../core/protocol/Status.ts";
import { type AuditRow, readAudit } from "../../runtime/AuditReads.ts";
import type { Unit } from "../base/Choices.ts";
import { Violation } from "../base/Violation.ts";
import { thresholdOf } from "../world/Operators.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import type { World } from "../world/World.ts";

const FIRST = "0".repeat(64);
const MOST_ROWS = 60;

const wrong = ({ slot }: SimPeer, what: string): Violation =>
  new Violation("L4", "everything was healed, and is at rest", `peer ${slot} ${what}`);

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
const readFrom = ({ cryptography: { crypto } }: World, peer: SimPeer, since: number, limit: number) => {
  const { state } = peer;
  const rows: Array<AuditRow> = [];
  if (state === undefined) return rows;
  const integrityLost = (where: string): void => {
    throw wrong(peer, `found damage in its audit at ${where}`);
  };
  for (;;) {
    const page = readAudit({ view: peer.store, state, crypto, integrityLost }, since + rows.length, limit);
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

/** Asks one peer as its operator does. */
export const assertOperable = (world: World, peer: SimPeer, unit: Unit): void => {
  if (!peer.honest || peer.state?.fitness.quarantine !== undefined) return;
  assertStatus(world, peer);
  assertAudit(world, peer, unit);
};
