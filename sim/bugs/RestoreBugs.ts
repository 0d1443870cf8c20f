/** Bugs of declared restores: in what a peer does in a new incarnation, and in what others make of its old one. */
import type { Preparation } from "../../core/protocol/Undecided.ts";
import type { MessageOf } from "../../core/protocol/Message.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import { proposalId } from "../../core/protocol/Proposal.ts";
import type { SignedStatement } from "../../core/protocol/Statement.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import { SELF } from "../../core/protocol/Tables.ts";
import { FIRST_INCARNATION } from "../../core/protocol/SignedState.ts";
import { type PlantedBug, rows } from "./PlantedBug.ts";
import type { Write } from "../../core/Tables.ts";
import type { TamperedWorld, Tampering } from "../world/Tampering.ts";

type Statements = ReadonlyMap<PeerId, SignedStatement>;

/** Changes a published map in place. */
const put = (statements: Statements, signed: SignedStatement): void => {
  if (statements instanceof Map) statements.set(signed.header.peerId, signed);
};

/** All maps that count votes or acknowledgements by signer, by the name of what they are about. */
const counters = ({
  undecided: { preparations, refused, aborting, outbox },
}: PeerState): ReadonlyMap<string, Statements> =>
  new Map([
    ...[...preparations.values()].map(({ id, votes }) => [`votes ${id}`, votes] as const),
    ...[...refused.values()].map(({ id, votes }) => [`refused ${id}`, votes] as const),
    ...[...aborting.values()].map(({ id, acks }) => [`aborting ${id}`, acks] as const),
    ...[...outbox.values()].flatMap(({ id, acks, isPrunable }) => (isPrunable ? [] : [[`acks ${id}`, acks] as const])),
  ]);

/** A statement once counted stays counted, even when its signer has begun a new incarnation. */
const countForEver = (): Tampering => {
  const before = new Map<string, Statements>();
  return {
    stepped: (_world, { slot, process }, state) => {
      for (const [what, statements] of counters(state)) {
        const name = `${slot} ${process} ${what}`;
        for (const signed of before.get(name)?.values() ?? [])
          if (!statements.has(signed.header.peerId) && signed.header.peerId !== slot) put(statements, signed);
        before.set(name, new Map(statements));
      }
    },
  };
};

/** A restored member's receipt as its first incarnation would have signed it. */
const receiptOfOldIncarnation = (
  world: TamperedWorld,
  { id, proposal }: Preparation,
  peerId: PeerId,
): SignedStatement | undefined => {
  const header = world.ghost.lastBatch(peerId, FIRST_INCARNATION);
  const receipt = world.ghost.proposals.get(id)?.receiptOf.get(proposal.writer);
  return header && receipt && { ...receipt, header };
};

const countOldReceipts = (): Tampering => ({
  stepped: (world, _peer, { undecided: { preparations }, signed: { seen } }) => {
    for (const preparation of preparations.values())
      for (const { peerId, incarnation } of seen.values()) {
        // A proposal made before the restore pins the first incarnation, and a receipt of that one would be valid.
        const isPinned = preparation.proposal.incarnations.includes(incarnation);
        if (incarnation === FIRST_INCARNATION || !isPinned || preparation.receipts.has(peerId)) continue;
        const receipt = receiptOfOldIncarnation(world, preparation, peerId);
        if (receipt !== undefined) put(preparation.receipts, receipt);
      }
  },
});

/** Records another's new incarnation, and the next time its first one again. */
const forgetIncarnations = (): Tampering => {
  const recorded = new Set<string>();
  return {
    written: (world, peer, writes) =>
      rows("seen", (row) => {
        const name = `${peer.slot} ${row.peerId} ${row.incarnation}`;
        const isAgain = row.incarnation !== FIRST_INCARNATION && recorded.has(name);
        recorded.add(name);
        return isAgain ? { ...row, incarnation: FIRST_INCARNATION } : row;
      })().written?.(world, peer, writes) ?? writes,
  };
};

/** Each pass is asked for with what was said of the first. */
const sayWhatWasHere = (): Tampering => {
  const said = new Map<string, MessageOf<"SnapshotRequest">>();
  return {
    said: ({ slot }, message) => {
      if (message._tag !== "SnapshotRequest" || message.after !== "") return message;
      const round = `${slot} ${message.nonce}`;
      const first = said.get(round) ?? message;
      said.set(round, first);
      return { ...message, here: first.here };
    },
  };
};

export const restoreBugs: ReadonlyArray<PlantedBug> = [
  {
    name: "never-reminds",
    changes:
      "a member whose incarnation is over is not shown what is on record of it by whoever cannot count its votes",
    finds: "L1",
    orFinds: ["L4", "L5", "L9"],
    schedule: "rollback-silent",
    tampering: () => ({
      stepped: (_world, _peer, { cluster: { membership }, probing: { remindedAt } }) => {
        for (const peerId of membership?.peerIds ?? [])
          if (remindedAt instanceof Map) remindedAt.set(peerId, Number.POSITIVE_INFINITY);
      },
    }),
  },
  {
    name: "reminds-at-every-word",
    changes: "a member is shown what is on record of it as often as anything takes it for what it was",
    finds: "S51",
    schedule: "rollback-silent",
    tampering: () => ({
      stepped: (_world, _peer, { probing: { remindedAt } }) => {
        if (remindedAt instanceof Map) remindedAt.clear();
      },
    }),
  },
  {
    name: "recovered-by-declaration",
    changes: "a restored peer counts as recovered as soon as it is declared, with what is on its old disk",
    finds: "S26",
    schedule: "rollback-declared",
    tampering: rows("restore", (row) => ({ ...row, recovering: false })),
  },
  {
    name: "readable-by-declaration",
    changes: "a restored peer serves reads from its old disk",
    finds: "H1",
    schedule: "rollback-declared",
    tampering: () => ({
      stepped: (_world, _peer, state) => {
        if (state.rejoining.recovery !== undefined) Object.assign(state.rejoining.recovery, { isReadable: true });
      },
    }),
  },
  {
    name: "readable-in-quarantine",
    changes: "a peer that has found out that it ran from an old disk serves reads from it",
    finds: "H1",
    schedule: "rollback-silent",
    tampering: () => ({ showsOutdated: true }),
  },
  {
    name: "shown-in-parts",
    changes: "a restored peer serves reads as soon as the first page of a registry is there",
    finds: "S26",
    schedule: "restore-of-many",
    steps: 3_000,
    tampering: () => ({
      written: (_world, { state }, writes) => {
        const { recovery, restored } = state?.rejoining ?? {};
        const isPage = recovery?.isReadable === false && writes.some(({ table }) => table === "certificates");
        if (!isPage || restored === undefined || writes.some(({ table }) => table === "readable")) return writes;
        const { recoveryId } = restored.restoration;
        return [...writes, { op: "insert", table: "readable", key: SELF, row: { recoveryId } }];
      },
    }),
  },
  {
    name: "shown-when-all-are-here",
    changes: "a restored peer takes no registry over while a member is missing",
    finds: "L11",
    schedule: "recover-under-load",
    tampering: () => ({
      delivered: (_world, { state }, message) =>
        message._tag === "SnapshotOffer" && state?.rejoining.recovery?.transfer?.isShared === false
          ? { _tag: "Votes", statements: [] }
          : message,
    }),
  },
  {
    name: "own-disk-is-all",
    changes: "where all members are being restored, the writer sees nothing of what the others have",
    finds: "S26",
    schedule: "restores-everywhere",
    tampering: () => ({
      delivered: (_world, _peer, message) =>
        message._tag === "SnapshotOffer" && message.own !== undefined
          ? { ...message, items: [], upTo: undefined }
          : message,
    }),
  },
  {
    name: "nobody-has-it",
    changes: "where all members are being restored, none of them shows what it has",
    finds: "L5",
    schedule: "restores-everywhere",
    tampering: () => ({
      delivered: (_world, _peer, message) =>
        message._tag === "SnapshotOffer" && message.own !== undefined ? { _tag: "Votes", statements: [] } : message,
    }),
  },
  {
    name: "end-unheard",
    changes: "where all members are being restored, the writer hears of nothing that others have refused or aborted",
    finds: "S26",
    schedule: "restores-beside-an-end",
    tampering: () => ({
      delivered: (_world, _peer, message) =>
        message._tag === "SnapshotOffer" && message.own !== undefined
          ? {
              ...message,
              items: message.items.filter(({ certificate }) => certificate !== undefined),
              own: { ...message.own, refused: [], strays: [] },
            }
          : message,
    }),
  },
  {
    name: "yes-taken-for-no",
    changes: "a restored member that asks who has applied a proposal hears that it is only prepared, and refuses it",
    finds: "S4",
    schedule: "restores-around-late-receipt",
    peers: 4,
    tampering: () => ({
      delivered: (_world, peer, message) =>
        message._tag === "SettleAnswer" && peer.state?.rejoining.recovery !== undefined
          ? { ...message, items: message.items.map((item) => ({ ...item, state: "PREPARED" as const })) }
          : message,
    }),
  },
  {
    name: "forgetful-witness",
    changes:
      "a restored member says that it knows nothing of a proposal before all others have its new incarnation on record",
    finds: "S4",
    schedule: "restores-around-late-receipt",
    peers: 5,
    tampering: () => ({
      delivered: (world, peer, message, from) => {
        const { state } = peer;
        if (
          message._tag !== "SettleQuery" ||
          state?.rejoining.recovery === undefined ||
          state.rejoining.unproven.size === 0
        )
          return message;
        const { crypto } = world.cryptography;
        const items = message.items.map(({ proposal }) => ({
          proposalId: proposalId(crypto, proposal),
          state: "UNKNOWN" as const,
          held: [],
        }));
        world.mail.utter(peer, from, { _tag: "SettleAnswer", nonce: message.nonce, items });
        return message;
      },
    }),
  },
  {
    name: "counted-for-ever",
    changes: "votes and acknowledgements of an incarnation that is over stay counted",
    finds: "S21",
    schedule: "double-declared-restore",
    tampering: countForEver,
  },
  {
    name: "receipt-of-any-incarnation",
    changes: "a receipt counts whatever incarnation of its signer it was made in",
    finds: "S21",
    schedule: "rollback-declared",
    tampering: countOldReceipts,
  },
  {
    name: "incarnations-forgotten",
    changes: "a member that has another's new incarnation on record goes back to the old one",
    finds: "S21",
    schedule: "rollback-declared",
    tampering: forgetIncarnations,
  },
  {
    name: "hasty-incarnation",
    changes: "a restored peer signs before all others have its new incarnation on record",
    finds: "S21",
    schedule: "restores-around-late-receipt",
    peers: 5,
    tampering: () => ({
      stepped: (_world, _peer, { rejoining: { recovery, unproven } }) => {
        if (recovery !== undefined && unproven instanceof Set) unproven.clear();
      },
    }),
  },
  {
    name: "deaf-to-cards",
    changes: "a founded member hears no card any more",
    finds: "L5",
    schedule: "restore-of-day-zero",
    tampering: () => ({
      delivered: (_world, { state }, message) =>
        message._tag === "GenesisCard" && state?.cluster.membership !== undefined
          ? { _tag: "Votes", statements: [] }
          : message,
    }),
  },
  {
    name: "first-page-only",
    changes: "a member that is asked for the registry says after its first page that there is no more",
    finds: "L5",
    // Where the run ends in the middle of a restore, this one is read before everything is healed.
    orFinds: ["L11"],
    schedule: "small-pages",
    steps: 400,
    tampering: () => ({
      said: (_peer, message) => (message._tag === "SnapshotOffer" ? { ...message, upTo: undefined } : message),
    }),
  },
  {
    name: "alike-unheard",
    changes: "a restored peer passes over an offer that says that both have the same",
    finds: "L5",
    orFinds: ["L6", "L9", "L11"],
    schedule: "rollback-declared",
    tampering: () => ({
      delivered: (_world, _peer, message) =>
        message._tag === "SnapshotOffer" && message.alike !== undefined ? { _tag: "Votes", statements: [] } : message,
    }),
  },
  {
    name: "here-before-the-pass",
    changes: "a restored peer that goes through a registry again says that it has what it had before",
    finds: "S55",
    schedule: "restores-beside-an-end",
    tampering: sayWhatWasHere,
  },
  {
    name: "takes-all-again",
    changes: "a restored peer does not say which slots it has",
    finds: "S55",
    schedule: "rollback-declared",
    tampering: () => ({
      said: (_peer, message) => (message._tag === "SnapshotRequest" ? { ...message, here: undefined } : message),
    }),
  },
  {
    name: "restored-without-shares",
    changes: "a restored peer that is a member again has erased the shares of its old disk, whatever they are of",
    finds: "K8",
    schedule: "restore-after-refresh",
    tampering: () => ({
      written: (_world, { store }, writes) => {
        if (!writes.some((write) => write.table === "restore" && write.op !== "remove" && !write.row.recovering))
          return writes;
        const others = writes.filter(({ table }) => table !== "shares");
        const shares = store.scan("shares", "", Number.MAX_SAFE_INTEGER);
        return [...others, ...shares.map(({ key }): Write => ({ op: "remove", table: "shares", key }))];
      },
    }),
  },
  {
    name: "passes-without-end",
    changes: "a restored peer goes through a registry again however often something was left out of it",
    finds: "S55",
    schedule: "source-omits",
    tampering: () => ({
      stepped: (_world, _peer, { rejoining: { recovery } }) => {
        if (recovery?.transfer !== undefined) Object.assign(recovery.transfer, { isAgain: false });
      },
    }),
  },
  {
    name: "follows-without-end",
    changes: "a restored peer follows a helper however far its slots go",
    finds: "S26",
    schedule: "source-omits",
    tampering: () => ({
      stepped: (_world, _peer, { rejoining: { recovery } }) => {
        if (recovery?.transfer !== undefined) Object.assign(recovery.transfer, { reach: Number.MAX_SAFE_INTEGER });
      },
    }),
  },
  {
    name: "erases-what-was-not-offered",
    changes: "a restored peer erases its share of a generation as soon as a helper does not offer that",
    finds: "K8",
    schedule: "source-omits",
    tampering: () => ({
      written: (_world, { store }, writes) => {
        if (store.get("restore", SELF)?.recovering !== true) return writes;
        const gone = writes.filter(
          (write) => write.op === "remove" && write.table === "generations" && store.get("shares", write.key),
        );
        return [...writes, ...gone.map(({ key }): Write => ({ op: "remove", table: "shares", key }))];
      },
    }),
  },
];
