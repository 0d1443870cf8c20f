/** S13: refs recompute, and every index and counter equals one built anew from the rows. */
import { boot } from "../../core/protocol/Boot.ts";
import { allRows } from "../../core/protocol/AllRows.ts";
import { termKeysOf } from "../../core/commands/approvers/Terms.ts";
import { SELF } from "../../core/protocol/Tables.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { Rows, RowView } from "../../core/Tables.ts";
import type { Checker, Watched } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";
import { credentialOf, refOf as nameOf } from "../models/approvers/Names.ts";
import { Violation } from "../base/Violation.ts";

const keysOf = (map: ReadonlyMap<string | number, unknown>): string => [...map.keys()].toSorted().join(" ");

const idsOf = <A>(map: ReadonlyMap<string, A>, holds: (value: A) => boolean): string =>
  [...map]
    .flatMap(([id, value]) => (holds(value) ? [id] : []))
    .toSorted()
    .join(" ");

/** Without those of deliveries: a restart takes back what the last acknowledgement, which need not be on disk, released. */
const locksOf = ({ undecided: { locks, preparations, aborting } }: PeerState): string =>
  [...locks]
    .flatMap(([lock, id]) => (preparations.has(id) || aborting.has(id) ? [`${lock}=${id}`] : []))
    .toSorted()
    .join(" ");

/** A writer that lies signs more than one receipt for a slot, and any of them proves that it has used it. */
const proofOf = ({ cluster, undecided }: PeerState, liars: ReadonlyArray<number>): string => {
  const { highProof, highSeq } = undecided;
  if (highProof === undefined) return "none";
  let epoch = cluster.membership;
  while (epoch !== undefined && highSeq < epoch.topology.firstSlot) epoch = epoch.before;
  return epoch !== undefined && liars.includes(epoch.writer) ? "some" : highProof.signature;
};

/** What a restart must find again, by name. */
const durableFacts = (
  ghost: Ghost,
  state: PeerState,
  liars: ReadonlyArray<number>,
): ReadonlyArray<readonly [string, string | number]> => [
  ["chain", `${state.signed.chain.incarnation} ${state.signed.chain.batchNo} ${state.signed.chain.hash}`],
  ["audit", `${state.signed.audit.seq} ${state.signed.audit.hash}`],
  ["registry root", ghost.crypto.setDigest(state.registry.set)],
  ["approvers", state.registry.approvers],
  ["highest slot", state.undecided.highSeq],
  ["proof of the highest slot", proofOf(state, liars)],
  ["highest decided slot", state.undecided.decidedSeq],
  ["refusals", keysOf(state.undecided.refused)],
  ["aborted proposals not yet aborted by all", keysOf(state.undecided.aborting)],
  ["preparations", keysOf(state.undecided.preparations)],
  ["outbox", keysOf(state.undecided.outbox)],
  ["pledges", idsOf(state.undecided.preparations, ({ pledge }) => pledge !== undefined)],
  ["refused preparations", idsOf(state.undecided.preparations, ({ refusal }) => refusal !== undefined)],
  ["locks of what is undecided", locksOf(state)],
  ["cluster", state.cluster.membership?.digest ?? "none"],
  ["cluster before", state.cluster.membership?.before?.digest ?? "none"],
  ["promotion", `${state.cluster.promotion.own?.stage} ${state.cluster.promotion.own?.transferId}`],
  ["transfer", state.cluster.promotion.bound?.transferId ?? "none"],
  ["restore", state.rejoining.restored?.restoration.recoveryId ?? "none"],
  ["recovering", String(state.rejoining.recovery !== undefined)],
  ["quarantine", state.fitness.quarantine ?? "none"],
  ["integrity key", state.fitness.integrityVersion],
  [
    "incarnations seen",
    [...state.signed.seenWritten.values()]
      .map((seen) => `${seen.peerId}:${seen.incarnation}`)
      .toSorted()
      .join(" "),
  ],
  ...ghost.product.remembered.map(([name, of]) => [name, of(state)] as const),
];

/** A passkey that the index of credentials does not lead to, or leads to under two names. */
const isMissing = (store: RowView): ((approver: Rows["approvers"]) => boolean) => {
  const led = new Map<string, number>();
  for (const { ref } of allRows(store, "credentials")) led.set(ref, (led.get(ref) ?? 0) + 1);
  return ({ ref, descriptor }) => (led.get(ref) ?? 0) !== (credentialOf(descriptor) === undefined ? 0 : 1);
};

/** The index as the approvers' rows make it: no row more, and no row less, as far as it is made. */
const assertIndex = ({ crypto }: Ghost, { slot, store }: Watched): void => {
  const approvers = allRows(store, "approvers");
  const wanted = new Set(approvers.flatMap((row) => [...termKeysOf(row, crypto)]));
  const mark = store.get("indexed", SELF);
  const isMade = (ref: string): boolean => mark?.upTo !== undefined && ref <= mark.upTo;
  const isWhole = mark !== undefined && mark.upTo === undefined;
  const made = isWhole
    ? wanted
    : approvers.filter(({ ref }) => isMade(ref)).flatMap((row) => [...termKeysOf(row, crypto)]);
  const stored = new Set(store.scan("terms", "", Number.MAX_SAFE_INTEGER).map(({ key }) => key));
  const other = [...stored].find((key) => !wanted.has(key)) ?? [...made].find((key) => !stored.has(key));
  if (other !== undefined)
    throw new Violation(
      "S13",
      `peer ${slot} has ${wanted.has(other) ? "no" : "a"} row ${other} in its index of approvers`,
      "its approvers' rows make another index",
    );
};

const assertRegistry = (ghost: Ghost, peer: Watched): void => {
  const { slot, store, state } = peer;
  if (state === undefined) return;
  assertIndex(ghost, peer);
  const isUnindexed = isMissing(store);
  for (const row of allRows(store, "approvers")) {
    if (isUnindexed(row))
      throw new Violation(
        "S13",
        `peer ${slot} stores approver ${row.ref}`,
        "its credential index does not name it once",
      );
    if (store.get("keys", row.keyIdentity)?.id !== row.id)
      throw new Violation("S13", `peer ${slot} stores approver ${row.ref}`, "its key index does not name that id");
  }
  const stored = ghost.crypto.setDigest(state.registry.set);
  const { set, count } = ghost.product.contentsOf(ghost.crypto, store);
  if (ghost.crypto.setDigest(set) !== stored || count !== state.registry.approvers)
    throw new Violation(
      "S13",
      `peer ${slot} keeps the root of ${state.registry.approvers} approvers`,
      `its ${count} rows make another root`,
    );
};

export const S13 = (ghost: Ghost): Checker => {
  /** Rows whose ref was computed anew; peers of one process may share them. */
  const computed = new WeakMap<Rows["approvers"], string>();
  const refOf = (row: Rows["approvers"]): string => {
    const known = computed.get(row);
    if (known !== undefined) return known;
    const ref = nameOf(ghost.crypto.sha256OfText, row.id, row.descriptor);
    computed.set(row, ref);
    return ref;
  };
  return {
    id: "S13",
    written: {
      approvers: ({ slot, honest }, write) => {
        if (!honest || write.op === "remove") return;
        const ref = refOf(write.row);
        if (ref !== write.row.ref || ref !== write.key)
          throw new Violation(
            "S13",
            `peer ${slot} stored approver ${write.key}`,
            `its descriptor makes the ref ${ref}`,
          );
      },
    },
    swept: (peers) => {
      const liars = peers.flatMap(({ slot, honest }) => (honest ? [] : [slot]));
      for (const peer of peers) {
        const { slot, honest, state, store, isIdle, isDamaged } = peer;
        if (
          !honest ||
          !isIdle ||
          isDamaged ||
          state?.cluster.peer === undefined ||
          state.fitness.integrityFault !== undefined
        )
          continue;
        const rebuilt = durableFacts(ghost, boot(store, ghost.crypto, ghost.product.composition, 0), liars);
        for (const [index, [name, value]] of durableFacts(ghost, state, liars).entries())
          if (rebuilt[index]?.[1] !== value)
            throw new Violation(
              "S13",
              `peer ${slot} has in memory: ${name} ${value}`,
              `a restart would find: ${name} ${rebuilt[index]?.[1]}`,
            );
        assertRegistry(ghost, peer);
      }
    },
  };
};
