/**
 * S26, the registry half: what a restored peer installs is what an honest helper offered, holds everything that was
 * ever acknowledged to a caller, and until then the peer signs for nothing. So is what it shows to readers before. It
 * takes what it installs once every other member has said that nothing is undecided there, or that it is restored too,
 * and all that have a registry have said that it is the same one. It follows no helper far past every change and what
 * other active members know.
 */
import type { Digest } from "../../core/base/Digest.ts";
import type { MessageOf } from "../../core/protocol/Message.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import { isAbortedAt } from "./Ends.ts";
import { numberKey, SELF } from "../../core/protocol/Tables.ts";
import type { Write } from "../../core/Tables.ts";
import type { Checker, Watched } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";
import { rowAt } from "../models/Product.ts";
import type { Subject } from "../models/Subject.ts";
import { Violation } from "../base/Violation.ts";

type Ready = MessageOf<"Ready">;

/** For so long, in microseconds, a peer that nothing holds up waits for the answers of one round, and some. */
const ROUND_MICROS = 5_000_000;

/** How far ahead anybody votes, and slots of one page, where nothing else is said. */
const OF_SERVICE = { slotWindow: 256, offeredSlots: 16 };

/** What was asked of the other members at one moment, and what each has said to that. */
interface Round {
  readonly at: number;
  readonly asked: Map<PeerId, { readonly nonce: Digest; readonly answers: Array<Ready> }>;
}

/** Whether nothing is on its way at a member, by its own word, that a registry taken now would lack. */
const isSettled = (recoveryId: Digest, { sealed, integrityOk, mode, uncommitted, recorded }: Ready): boolean =>
  !sealed &&
  integrityOk &&
  recorded?.restoration.recoveryId === recoveryId &&
  (mode === "recovering" || mode === "promoting" || (mode === "active" && uncommitted === 0));

/** What is against taking a registry over: members that have not said it, and the registries of those that have. */
interface Hindrance {
  readonly silent: ReadonlyArray<PeerId>;
  /** More than one where they differ. */
  readonly registries: ReadonlyArray<string>;
}

/** What one process has asked the others lately, and what is against what it takes over now. */
interface Asking {
  rounds: ReadonlyArray<Round>;
  /** And the highest slot that other active members than the helper have said that they know. */
  taken: { readonly nonce: Digest; readonly hindrance: Hindrance; readonly known: number | undefined } | undefined;
}

const registryIn = ({ registryRoot, approvers }: Ready): string => `${registryRoot} of ${approvers} approver(s)`;

/** The one registry of all members that have one, which is none where all are restored; else all there are. */
const registriesOf = (said: ReadonlyArray<ReadonlyArray<Ready>>): ReadonlyArray<string> => {
  const offered = said.filter((answers) => answers.every(({ mode }) => mode !== "recovering"));
  const all = [...new Set(offered.flat().map(registryIn))];
  const common = all.filter((each) => offered.every((answers) => answers.some((ready) => registryIn(ready) === each)));
  return common.length === 0 ? all : common.slice(0, 1);
};

/** What is against it in the round in which the least is. */
const hindranceOf = ({ state }: Watched, { rounds }: Asking, recoveryId: Digest): Hindrance => {
  const { peer, membership } = state?.cluster ?? {};
  const others = (membership?.peerIds ?? []).filter((each) => each !== peer?.peerId);
  const inRounds = rounds.map(({ asked }): Hindrance => {
    const said = others.map((each) => asked.get(each)?.answers.filter((ready) => isSettled(recoveryId, ready)) ?? []);
    return { silent: others.filter((_, at) => said[at]?.length === 0), registries: registriesOf(said) };
  });
  const weight = ({ silent, registries }: Hindrance): number => silent.length + Math.max(0, registries.length - 1);
  const none: Hindrance = { silent: others, registries: [] };
  return inRounds.reduce((least, each) => (weight(each) <= weight(least) ? each : least), none);
};

const seqIn = (key: string): number => Number(key.slice(key.indexOf(".") + 1));

/** The highest slot of the active members but the helper, in the last round in which all were asked. */
const knownBeside = ({ state }: Watched, { rounds }: Asking, helper: PeerId): number | undefined => {
  const others = (state?.cluster.membership?.peerIds.length ?? 0) - 1;
  const last = rounds.findLast(({ asked }) => asked.size === others);
  const said = [...(last?.asked.values() ?? [])].flatMap(({ answers }) => answers);
  const active = said.filter(({ peerId, mode }) => peerId !== helper && (mode === "active" || mode === "promoting"));
  return active.length === 0 ? undefined : Math.max(...active.map(({ highSeq }) => highSeq));
};

export const S26 = (ghost: Ghost): Checker => {
  const askings: Array<Asking> = [];
  const askingOf = (slot: number): Asking => (askings[slot] ??= { rounds: [], taken: undefined });

  const noteAsked = ({ slot, decidedAt: at, heldUpUntil = 0 }: Watched, to: PeerId, nonce: Digest): void => {
    const asking = askingOf(slot);
    let last = asking.rounds.at(-1);
    if (last === undefined || last.at !== at || last.asked.has(to)) {
      last = { at, asked: new Map() };
      const kept = asking.rounds.filter((each) => at - Math.max(each.at, heldUpUntil) < ROUND_MICROS);
      asking.rounds = [...kept, last];
    }
    last.asked.set(to, { nonce, answers: [] });
  };

  const noteTaken = (peer: Watched, to: PeerId, { nonce, recoveryId }: MessageOf<"SnapshotRequest">): void => {
    const asking = askingOf(peer.slot);
    if (asking.taken?.nonce === nonce) return;
    asking.taken = { nonce, hindrance: hindranceOf(peer, asking, recoveryId), known: knownBeside(peer, asking, to) };
  };

  const assertAsked = ({ slot }: Watched): void => {
    const { silent = [], registries = [] } = askingOf(slot).taken?.hindrance ?? {};
    if (silent.length > 0)
      throw new Violation(
        "S26",
        `peers ${silent.join(", ")} have not said that nothing is undecided there, or that they are restored too`,
        `peer ${slot} took the registry for whole, and is a member again`,
      );
    if (registries.length > 1)
      throw new Violation(
        "S26",
        `the others have said that they have different registries: ${registries.join("; ")}`,
        `peer ${slot} took one of them for that of all, and is a member again`,
      );
  };

  /** A slot far ahead of every change, and of all that other active members have said. */
  const assertNear = (peer: Watched, seq: number, writes: ReadonlyArray<Write>): void => {
    const { known } = askingOf(peer.slot).taken ?? {};
    const { slotWindow, offeredSlots } = { ...OF_SERVICE, ...ghost.capacities };
    const far = slotWindow + offeredSlots;
    if (known === undefined || seq <= known + far) return;
    const rows = peer.store.scan("slots", "", Number.MAX_SAFE_INTEGER);
    const ends = [
      ...rows,
      ...writes.flatMap((write) => (write.table === "slots" && write.op !== "remove" ? write : [])),
    ];
    const changes = ends.flatMap(({ key, row }) => (row.outcome === "APPLIED" && seqIn(key) < seq ? seqIn(key) : []));
    if (seq > Math.max(0, ...changes) + far)
      throw new Violation(
        "S26",
        `other active members have told peer ${peer.slot} of slots up to ${known}, and there is no change near ${seq}`,
        "it takes over that slot, and goes on",
      );
  };

  /** By recovery: the roots that were offered for it. */
  const offered = new Map<string, Set<string>>();
  /** Subjects that a caller was told are stored everywhere, by ref. */
  const acknowledged = new Map<string, Subject>();
  /** Changes that the union of all registries brought back; a disk that shows an older end of one is abandoned. */
  const agreed = new Set<string>();
  /** What real processes say to each other is not heard here, so nobody knows what was offered. */
  let hears = false;

  const peers = new Map<number, Watched>();

  /** The disks that were put together: those of all members, in the incarnations that this one has on record. */
  const disksOf = ({ slot, store }: Watched): ReadonlyArray<Watched> =>
    [...peers.values()].filter((each) => {
      if (each.slot === slot || each.isDamaged) return each.slot === slot;
      const known = store.get("seen", numberKey(each.slot))?.restored?.restoration.recoveryId;
      return known !== undefined && each.store.get("restore", SELF)?.restoration.recoveryId === known;
    });

  /** All members were being restored: what one of their disks has must be there, unless one knows that it ended. */
  const assertUnited = (peer: Watched): void => {
    const disks = disksOf(peer);
    for (const [ref, subject] of acknowledged) {
      if (rowAt(peer.store, subject, ref) !== undefined) continue;
      const holder = disks.find(({ store }) => rowAt(store, subject, ref) !== undefined);
      if (holder !== undefined)
        throw new Violation(
          "S26",
          `${subject.name} ${ref} was acknowledged to a caller and is on the disk of peer ${holder.slot}`,
          `peer ${peer.slot} put all registries together without it`,
        );
      acknowledged.delete(ref);
    }
    for (const [id, { proposal }] of ghost.proposals) {
      if (agreed.has(id) || peer.store.get("certificates", id) === undefined) continue;
      const witness = disks.find(
        ({ store }) => store.get("refusals", id) !== undefined || isAbortedAt(store, id, proposal),
      );
      if (witness !== undefined)
        throw new Violation(
          "S26",
          `peer ${witness.slot} has refused or aborted proposal ${id}`,
          `peer ${peer.slot} put all registries together with it`,
        );
      agreed.add(id);
    }
  };

  const assertInstalled = ({ slot, store }: Watched, recoveryId: string): void => {
    for (const [ref, subject] of acknowledged)
      if (rowAt(store, subject, ref) === undefined)
        throw new Violation(
          "S26",
          `${subject.name} ${ref} was acknowledged to a caller`,
          `peer ${slot} recovered without it`,
        );
    const { crypto } = ghost;
    const { set } = ghost.product.contentsOf(crypto, store);
    const roots = offered.get(recoveryId) ?? new Set();
    // A member that lies may help with the truth: what another honest one has.
    const isShared = (other: Watched): boolean =>
      other.slot !== slot &&
      other.honest &&
      !other.isDamaged &&
      crypto.setDigest(ghost.product.contentsOf(crypto, other.store).set) === crypto.setDigest(set);
    // And what the source of a promotion has promised: every target has signed for that.
    const isPromised = store.get("transfer", SELF)?.draft.root === crypto.setDigest(set);
    const isTrue = ghost.lying !== 0 && (isPromised || [...peers.values()].some(isShared));
    if (hears && !isTrue && !roots.has(crypto.setDigest(set)))
      throw new Violation(
        "S26",
        `honest members offered peer ${slot} ${roots.size} root(s) for its recovery`,
        `what it installed has root ${crypto.setDigest(set)}, which is none of them`,
      );
  };

  return {
    id: "S26",
    booted: (peer) => {
      peers.set(peer.slot, peer);
      delete askings[peer.slot];
    },
    delivered: ({ slot }, message, from) => {
      if (message._tag !== "Ready" || message.peerId !== from) return;
      for (const { asked } of askingOf(slot).rounds) {
        const question = asked.get(from);
        if (question?.nonce === message.nonce) question.answers.push(message);
      }
    },
    sent: (peer, message, to) => {
      const { honest } = peer;
      hears = true;
      if (message._tag === "ReadyProbe") noteAsked(peer, to, message.nonce);
      if (message._tag === "SnapshotRequest") noteTaken(peer, to, message);
      if (!honest || message._tag !== "SnapshotOffer") return;
      const roots = offered.get(message.recoveryId) ?? new Set();
      offered.set(message.recoveryId, roots.add(message.cutoff.root));
    },
    replied: ({ honest }, { answer }) => {
      if (!honest && ghost.lying !== 0) return;
      const found = ghost.product.shownIn(answer);
      if (found?.shown.promised === 1) acknowledged.set(found.shown.ref, found.subject);
    },
    written: {
      restore: (peer, write) => {
        if (write.op === "remove" || write.row.recovering) return;
        if (!ghost.isLying(peer.slot)) assertAsked(peer);
        if (!ghost.isAtomic) return;
        if (ghost.unitedBy === peer.slot) assertUnited(peer);
        else assertInstalled(peer, write.row.restoration.recoveryId);
      },
      readable: (peer, write) => {
        // Of a member that lies nobody knows what it holds back, before the others are heard.
        const isTold = ghost.lying === 0 || offered.has(write.op === "remove" ? "" : write.row.recoveryId);
        if (write.op !== "remove" && ghost.isAtomic && isTold) assertInstalled(peer, write.row.recoveryId);
      },
      slots: (peer, write, writes) => {
        if (write.op === "remove" || write.row.outcome !== "ABORTED" || ghost.isLying(peer.slot)) return;
        if (ghost.isRecovering(peer.slot)) assertNear(peer, seqIn(write.key), writes);
      },
      preparations: ({ slot }, { op, key }) => {
        if (op !== "remove" && ghost.isRecovering(slot))
          throw new Violation("S26", `peer ${slot} is recovering`, `it signed a RECEIPT of proposal ${key}`);
      },
    },
  };
};
