/**
 * A cluster is brought to the next version one peer after the other, while it works. Only tests speak that version:
 * notes, keys and a message have one more field in it.
 */
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { versionOf } from "../core/codec/CborReader.ts";
import type { ActorCheck } from "../core/auth/ActorCheck.ts";
import { commands } from "../core/commands/Commands.ts";
import { type Composition, composed } from "../core/protocol/Composition.ts";
import { isComplete } from "../core/protocol/Certificate.ts";
import { modeOf } from "../core/protocol/Mode.ts";
import { proposalId } from "../core/protocol/Proposal.ts";
import { actor, Cluster, codeOf, crypto } from "./cluster/Cluster.ts";
import { receiptOfWriter } from "./cluster/Forging.ts";
import { NEXT_VERSION, NOTE_PERMISSION, notes, NOTES_PATH } from "./modules/notes/Note.ts";
import { noteSlice } from "./modules/notes/NoteContents.ts";
import { compositionWithNotes } from "./modules/notes/WithNotes.ts";

const PRESENT = NEXT_VERSION - 1;
const present = compositionWithNotes({ lowest: PRESENT, highest: PRESENT });
const next = compositionWithNotes({ lowest: PRESENT, highest: NEXT_VERSION });
/** It has forgotten how to speak as the present one does. */
const later = compositionWithNotes({ lowest: NEXT_VERSION, highest: NEXT_VERSION + 1 });
const far = compositionWithNotes({ lowest: NEXT_VERSION + 1, highest: NEXT_VERSION + 2 });

const mayLeave: ActorCheck =
  actor._tag === "Verified"
    ? { ...actor, claims: { ...actor.claims, permissions: [...actor.claims.permissions, NOTE_PERMISSION] } }
    : actor;

const clusterOf = (...programs: ReadonlyArray<Composition>): Cluster => {
  const cluster = new Cluster(0, undefined, programs.length);
  cluster.judge = () => mayLeave;
  cluster.runs = (peerId) => programs[peerId - 1] ?? present;
  for (const [index] of programs.entries()) cluster.start(index + 1);
  cluster.pass(3_000);
  return cluster;
};

/** Another program from now on, on the same rows. */
const restart = (cluster: Cluster, peerId: number, program: Composition): void => {
  const { runs } = cluster;
  cluster.runs = (each) => (each === peerId ? program : runs(each));
  cluster.start(peerId);
  cluster.pass(3_000);
};

const leave = (cluster: Cluster, through: number, name: string): void => {
  const rawBody = utf8ToBytes("two words");
  cluster.ask(through, name, { method: "PUT", path: `${NOTES_PATH}${name}`, ifMatch: undefined, rawBody });
  cluster.pass(3_000);
};

const certificates = (cluster: Cluster, peerId: number) =>
  [...(cluster.tables.get(peerId)?.get("certificates")?.keys() ?? [])].flatMap((id) => {
    const certificate = cluster.row(peerId, "certificates", id);
    return certificate === undefined ? [] : [{ id, certificate }];
  });

/** By name: the version it was agreed on in, and how many words it has. */
const notesAt = (cluster: Cluster, peerId: number) =>
  Object.fromEntries(
    certificates(cluster, peerId).flatMap(({ certificate: { proposal } }) => {
      if (proposal.kind !== "NOTE") return [];
      const { name, version, words } = notes.certified(proposal.effects);
      return [[name, [proposal.version, version, words]]];
    }),
  );

const keyRows = (cluster: Cluster, peerId: number): ReadonlyArray<number> =>
  [...(cluster.tables.get(peerId)?.get("keys")?.values() ?? [])].map(({ row }) => versionOf(row));

const everyPeer = [1, 2, 3];

const assertProven = (cluster: Cluster): void => {
  for (const peerId of everyPeer) {
    const membership = cluster.peers.get(peerId)?.state.cluster.membership;
    if (membership === undefined) throw new Error("the cluster is founded");
    for (const { id, certificate } of certificates(cluster, peerId)) {
      expect(proposalId(crypto, certificate.proposal)).toBe(id);
      expect(isComplete(crypto, membership, proposalId(crypto, certificate.proposal), certificate)).toBe(true);
    }
  }
};

const roots = (cluster: Cluster) =>
  new Set(
    everyPeer.map((peerId) => crypto.setDigest(cluster.peers.get(peerId)?.state.registry.set ?? crypto.emptySet)),
  );

describe("a cluster of two neighbouring versions", () => {
  it.each(everyPeer)("is founded and works while only peer %d speaks the present one, and then all the next", (old) => {
    const cluster = clusterOf(...everyPeer.map((peerId) => (peerId === old ? present : next)));
    everyPeer.forEach((through) => cluster.register(through, `r${through}`, `id-${through}`, through));
    cluster.pass(3_000);
    for (const through of everyPeer) leave(cluster, through, `mixed-${through}`);
    for (const requestId of ["r1", "r2", "r3"]) expect(codeOf(cluster, requestId)).toBe("Registered");
    for (const peerId of everyPeer) {
      expect(notesAt(cluster, peerId)).toEqual({
        "mixed-1": [PRESENT, PRESENT, 0],
        "mixed-2": [PRESENT, PRESENT, 0],
        "mixed-3": [PRESENT, PRESENT, 0],
      });
      // Rows are nobody else's business.
      expect(new Set(keyRows(cluster, peerId))).toEqual(new Set([peerId === old ? PRESENT : NEXT_VERSION]));
    }
    restart(cluster, old, next);
    for (const through of everyPeer) leave(cluster, through, `all-${through}`);
    cluster.register(2, "r4", "id-4", 4);
    cluster.pass(3_000);
    expect(codeOf(cluster, "r4")).toBe("Registered");
    for (const peerId of everyPeer) {
      expect(notesAt(cluster, peerId)).toMatchObject({
        "mixed-1": [PRESENT, PRESENT, 0],
        "all-1": [NEXT_VERSION, NEXT_VERSION, 2],
        "all-2": [NEXT_VERSION, NEXT_VERSION, 2],
        "all-3": [NEXT_VERSION, NEXT_VERSION, 2],
      });
      expect(keyRows(cluster, peerId)).toContain(NEXT_VERSION);
    }
    expect(new Set(keyRows(cluster, old))).toEqual(new Set([PRESENT, NEXT_VERSION]));
    assertProven(cluster);
    expect(roots(cluster).size).toBe(1);
  });

  it("says what is new only to those who understand it", () => {
    const cluster = clusterOf(next, next, present);
    leave(cluster, 1, "mixed");
    restart(cluster, 3, next);
    leave(cluster, 1, "all");
    cluster.pass(5_000);
    for (const peerId of everyPeer) {
      const state = cluster.peers.get(peerId)?.state ?? expect.fail();
      const { heard, words } = state.modules[noteSlice.name] as typeof noteSlice.empty;
      const others = everyPeer.filter((each) => each !== peerId);
      expect([...heard].toSorted()).toEqual(others.map((each) => [each, 2]));
      // The words of the older note were never counted.
      expect([...words].toSorted()).toEqual(others.map((each) => [each, 2]));
      expect([...state.cluster.spoken].toSorted()).toEqual(others.map((each) => [each, next.versions]));
    }
  });

  it.each([2, 3])("has a peer join again that does not know what peer %d has moved on to", (ahead) => {
    // Without the notes' message, which all send to all now and then.
    const quiet = ({ versions }: Composition) => composed(commands.all, commands.modules, versions);
    const cluster = clusterOf(...everyPeer.map((peerId) => quiet(peerId === ahead ? later : next)));
    const other = 5 - ahead;
    // It begins with a version that the other has forgotten; the other has no reason to ask it anything.
    restart(cluster, other, quiet(next));
    expect(modeOf(cluster.peers.get(other)?.state ?? expect.fail())).toBe("active");
  });

  it("goes on from version to version, each next to the one before", () => {
    const cluster = clusterOf(next, next, next);
    leave(cluster, 2, "before");
    for (const peerId of everyPeer) {
      restart(cluster, peerId, later);
      leave(cluster, peerId, `with-${peerId}`);
      // A peer that begins anew does not know yet that the others have moved on.
      const other = (peerId % 3) + 1;
      restart(cluster, other, cluster.runs(other));
      leave(cluster, other, `again-${peerId}`);
    }
    const versionsOf = Object.fromEntries(
      Object.entries(notesAt(cluster, 1)).map(([name, [version]]) => [name, version]),
    );
    expect(versionsOf).toEqual({
      before: NEXT_VERSION,
      "with-1": NEXT_VERSION,
      "again-1": NEXT_VERSION,
      "with-2": NEXT_VERSION,
      "again-2": NEXT_VERSION,
      "with-3": NEXT_VERSION + 1,
      "again-3": NEXT_VERSION + 1,
    });
    assertProven(cluster);
    expect(roots(cluster).size).toBe(1);
  });
});

describe("a member", () => {
  it("refuses what was made in a version that it does not speak any more", () => {
    const cluster = clusterOf(next, later, later);
    const votes: Array<string> = [];
    cluster.tamper = (from, _to, message) => {
      if (message._tag === "Votes" && from !== 1)
        votes.push(...message.statements.map(({ statement }) => `${statement.kind} ${statement.detail}`));
      if (message._tag !== "Prepare") return message;
      const items = message.items.map((item) => {
        const proposal = { ...item.proposal, version: PRESENT };
        return { ...item, proposal, receipt: receiptOfWriter(cluster, proposal, item.receipt) };
      });
      return { ...message, items };
    };
    cluster.register(2, "r", "id", 1);
    cluster.settle();
    expect(new Set(votes)).toEqual(new Set(["REFUSAL VERSION_NOT_SPOKEN"]));
  });
});

describe("a member that speaks no version of the others", () => {
  const spoken = ({ versions: { lowest, highest } }: Composition): string =>
    lowest === highest ? `version ${highest}` : `versions ${lowest} to ${highest}`;
  const reason = (of: Composition, at: Composition): string =>
    `it speaks ${spoken(of)} of the protocol, this peer ${spoken(at)}`;

  it.each(everyPeer)("is named by every peer, and names them: peer %d", (odd) => {
    const cluster = clusterOf(present, present, present);
    const others = everyPeer.filter((each) => each !== odd);
    restart(cluster, odd, far);
    const readiness = (peerId: number) => {
      cluster.dispatch(peerId, { _tag: "CheckReadiness", requestId: "ready" });
      cluster.pass(3_000);
      const answer = cluster.answers.get("ready");
      return answer?._tag === "Readiness" ? answer.faults : [];
    };
    expect(readiness(odd)).toEqual([
      { peerId: odd, reason: expect.stringContaining("joining") },
      ...others.map((peerId) => ({ peerId, reason: reason(present, far) })),
    ]);
    for (const peerId of others) {
      expect(readiness(peerId)).toContainEqual({ peerId: odd, reason: reason(far, present) });
      // A new process hears it anew.
      restart(cluster, peerId, present);
      expect(readiness(peerId)).toEqual([
        { peerId, reason: expect.stringContaining("joining") },
        { peerId: odd, reason: reason(far, present) },
      ]);
    }
  });

  it("is named by the writer, whose callers are told", () => {
    const cluster = clusterOf(present, present, present);
    restart(cluster, 3, far);
    cluster.register(2, "r", "id", 1);
    cluster.pass(5_000);
    const answer = cluster.answers.get("r");
    expect(answer).toMatchObject({
      _tag: "Rejected",
      rejection: {
        code: "APPROVER_REPLICATION_UNAVAILABLE",
        members: [{ peerId: 3, reason: reason(far, present) }],
      },
    });
    restart(cluster, 3, present);
    cluster.register(2, "again", "id", 1);
    cluster.pass(5_000);
    expect(codeOf(cluster, "again")).toBe("Registered");
  });
});
