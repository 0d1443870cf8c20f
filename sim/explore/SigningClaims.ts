/**
 * What holds of signatures in a small world, by what members said and by their disks: K1, K2, K4, K14, and at rest that
 * callers of honest coordinators have their signatures. The group is one in which a share shows what it is of.
 */
import type { SignMessageOf } from "../../core/commands/signWithKey/SignMessages.ts";
import { signingIn } from "../../core/commands/signWithKey/SigningState.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Element, GroupKey, Scalar } from "../../core/threshold/ThresholdScheme.ts";
import type { Rows } from "../../core/Tables.ts";
import { Violation } from "../base/Violation.ts";
import { generationAt } from "../checkers/KeyFacts.ts";
import { askedIn, keyIdIn, messageOf, operationOf, sessionOf } from "../checkers/Signing.ts";
import { isSignature } from "../crypto/ToyGroup.ts";
import { isShareOf } from "../crypto/ToyThreshold.ts";
import type { Signing } from "../requests/KeyRequests.ts";
import type { World } from "../world/World.ts";
import { type Claims, undecidedIn } from "./Claims.ts";
import type { Configuration } from "./Configuration.ts";
import type { Flying, Member } from "./Member.ts";

interface Ground {
  readonly world: World;
  /** The member that lies; 0 where none does. */
  readonly liar: PeerId;
  /** What callers want signed, in their order, and through whom. */
  readonly asked: ReadonlyArray<Wanted>;
}

export interface Wanted {
  readonly signing: Signing;
  readonly through: PeerId;
}

type Said<T extends Flying["message"]["_tag"]> = Omit<Flying, "message"> & {
  readonly message: Extract<Flying["message"], { readonly _tag: T }>;
};

const of = <T extends Flying["message"]["_tag"]>(all: ReadonlyArray<Flying>, tag: T): ReadonlyArray<Said<T>> =>
  all.filter((each): each is Flying & Said<T> => each.message._tag === tag);

/** Nonces that an honest member has committed to: in its answer to a coordinator, or as one in its own package. */
interface Committed {
  readonly peer: PeerId;
  readonly session: string;
  readonly hiding: string;
  readonly binding: string;
  /** The package that its coordinator is bound to by these; undefined where another member is the coordinator. */
  readonly package: string | undefined;
}

const committedIn = (sent: ReadonlyArray<Flying>, liar: PeerId, indexOf: ReadonlyMap<PeerId, number>) => {
  const all: Array<Committed> = [];
  for (const { from, to, message } of of(sent, "Sign.Commit"))
    all.push({ peer: from, session: sessionOf(to, message.sessionId), ...message.commitments, package: undefined });
  for (const { from, message } of of(sent, "Sign.Package"))
    for (const { sessionId, commitments, messageDigest } of from === liar ? [] : message.items) {
      const own = commitments.find(({ index }) => index === indexOf.get(from));
      const what = JSON.stringify([commitments, messageDigest]);
      if (own !== undefined) all.push({ peer: from, session: sessionOf(from, sessionId), ...own, package: what });
    }
  return all;
};

/** K1: a nonce belongs to one session, and one package and one share at most come of it. */
const assertNoncesOnce = (sent: ReadonlyArray<Flying>, liar: PeerId, indexOf: ReadonlyMap<PeerId, number>): void => {
  const users = new Map<string, Committed>();
  for (const each of committedIn(sent, liar, indexOf))
    for (const nonce of [each.hiding, each.binding]) {
      const known = users.get(nonce) ?? each;
      if (known.session !== each.session || known.package !== each.package)
        throw new Violation(
          "K1",
          `peer ${known.peer} committed to a nonce in session ${known.session}`,
          `peer ${each.peer} commits to it for something else, in session ${each.session}`,
        );
      users.set(nonce, each);
    }
  const shares = new Map<string, string>();
  for (const { from, to, message } of of(sent, "Sign.Share"))
    for (const { sessionId, scalar } of message.items) {
      const session = `${from} ${sessionOf(to, sessionId)}`;
      if ((shares.get(session) ?? scalar) !== scalar)
        throw new Violation("K1", `a share of peer ${from} has left`, `another one leaves for session ${session}`);
      shares.set(session, scalar);
    }
};

const keyOf = ({ group }: Rows["generations"]): GroupKey => ({
  threshold: group.threshold,
  commitments: group.commitments as ReadonlyArray<Element>,
  verifyingShares: new Map(group.verifyingShares.map(({ index, element }) => [index, element as Element])),
});

type Share = SignMessageOf<"Sign.Share">["items"][number];

/**
 * K2: why a share may not leave for a session that was opened so; undefined where it may. Some caller wants the message
 * signed, the disk has the consent to this very message, and of this very message the share is.
 */
const shareFault = (
  { world, asked }: Ground,
  { peerId, rows }: Member,
  { operation, keyId, generation: number, message }: Opened,
  packages: ReadonlyArray<SignMessageOf<"Sign.Package">["items"][number]>,
  share: Share,
): string | undefined => {
  const { crypto } = world.cryptography;
  const digest = crypto.sha256(message);
  if (!asked.some(({ signing }) => crypto.sha256(messageOf(signing)) === digest))
    return "no caller wants this message signed";
  const consent = rows.get("consents", operation);
  if (consent === undefined) return `the disk of peer ${peerId} has no consent to operation ${operation}`;
  if (consent.messageDigest !== digest || consent.keyId !== keyId || consent.generation !== number)
    return `peer ${peerId} has consented to message ${consent.messageDigest}, and ${digest} is asked for`;
  const generation = generationAt(rows, keyId, number);
  if (generation?.state !== "ACTIVE") return `generation ${number} is not active at peer ${peerId}`;
  const isOf = packages.some(
    ({ messageDigest, commitments }) =>
      messageDigest === digest &&
      isShareOf(
        keyOf(generation),
        commitments.map(({ index, hiding, binding }) => ({
          index,
          hiding: hiding as Element,
          binding: binding as Element,
        })),
        message,
        { index: share.index, scalar: share.scalar as Scalar },
      ),
  );
  return isOf ? undefined : `it is of no package that peer ${peerId} was sent for message ${digest}`;
};

/** What a session is for, as it was opened. */
interface Opened {
  readonly operation: string;
  readonly keyId: string;
  readonly generation: number;
  readonly message: Uint8Array;
}

const openedAs = (world: World, member: Member, open: SignMessageOf<"Sign.Open">): ReadonlyArray<Opened> => {
  const request = askedIn(open);
  const claims = world.commands.bearerOf(open.evidence.token);
  const keyId = keyIdIn(open.evidence.path);
  const generation = generationAt(member.rows, keyId, open.generation);
  const clusterId = member.memory?.state.cluster.membership?.topology.clusterId ?? "";
  if (request === undefined || claims === undefined || generation === undefined) return [];
  const operation = operationOf(world.cryptography.crypto, clusterId, claims, generation, open, request);
  return [{ operation, keyId, generation: open.generation, message: messageOf(request) }];
};

/** K2, for the shares in a message that has just left. */
const assertConsented = (ground: Ground, at: Configuration, { from, to, message }: Said<"Sign.Share">): void => {
  const member = at.members[from - 1];
  if (member === undefined) return;
  const told = at.spoken.arrived.filter((each) => each.to === from && each.from === to);
  for (const share of message.items) {
    const opened = of(told, "Sign.Open")
      .filter((each) => each.message.sessionId === share.sessionId)
      .flatMap((each) => openedAs(ground.world, member, each.message));
    const packages = of(told, "Sign.Package")
      .flatMap((each) => each.message.items)
      .filter(({ sessionId }) => sessionId === share.sessionId);
    const faults = opened.map((each) => shareFault(ground, member, each, packages, share));
    if (!faults.includes(undefined))
      throw new Violation(
        "K2",
        `a share of peer ${from} leaves for session ${sessionOf(to, share.sessionId)}`,
        faults[0] ?? "nobody has asked for it",
      );
  }
};

/** The consents on a disk to an operation; a liar's word for which one that was counts for nothing. */
const consentsAt = ({ rows }: Member, operation: string | undefined): ReadonlyArray<Rows["consents"]> =>
  [...rows.entries("consents")].flatMap(([key, row]) => (operation === undefined || key === operation ? [row] : []));

/** K4, K14: a signature verifies for what its caller wants signed, and as many as it takes have consented to that. */
const assertSigned = ({ world, asked, liar }: Ground, { members, calls }: Configuration, index: number): void => {
  const [call, wanted] = [calls[index], asked[index]];
  if (call === undefined || wanted === undefined || typeof call === "string" || call._tag !== "Signed") return;
  const { signing, through } = wanted;
  const message = messageOf(signing);
  const digest = world.cryptography.crypto.sha256(message);
  const told = `caller ${index} was answered with a signature of operation ${call.operationId}`;
  const [generation] = members.map(({ rows }) => generationAt(rows, signing.keyId, call.generation));
  if (generation === undefined || !isSignature(generation.publicKey, message, call.signature))
    throw new Violation("K14", told, "it does not verify for what was asked");
  const operation = through === liar ? undefined : call.operationId;
  const consenters = members.filter((member) =>
    consentsAt(member, operation).some(
      ({ messageDigest, keyId }) => messageDigest === digest && keyId === signing.keyId,
    ),
  );
  if (consenters.length < generation.group.threshold)
    throw new Violation("K4", told, `${consenters.length} members have consented to its message on their disks`);
};

const hasGrown = <A>(after: ReadonlyArray<A>, before: ReadonlyArray<A>): boolean => after !== before;

export const signingClaims = (ground: Ground): Claims => {
  const { world, liar, asked } = ground;
  const members = world.peers[0]?.state?.cluster.membership?.topology.members ?? [];
  const indexOf = new Map(members.map(({ peerId, shareIndex }) => [peerId, shareIndex]));
  return {
    assertSafe: (after, before) => {
      const { sent } = after.spoken;
      if (hasGrown(sent, before.spoken.sent)) {
        const left = sent.filter((each) => !before.spoken.sent.includes(each));
        if (left.length > 0) assertNoncesOnce(sent, liar, indexOf);
        for (const each of of(left, "Sign.Share")) if (each.from !== liar) assertConsented(ground, after, each);
      }
      after.calls.forEach((call, index) => {
        if (call !== before.calls[index]) assertSigned(ground, after, index);
      });
    },
    unfinished: "L1",
    remainderOf: (at) => {
      for (const { peerId, memory } of at.members) {
        if (memory === undefined) return `peer ${peerId} is down`;
        const { waiting, requests, sessions } = signingIn(memory.state);
        if (waiting.size + requests.size > 0) return `peer ${peerId} has requests to sign`;
        if (sessions.size > 0) return `peer ${peerId} has nonces of ${sessions.size} sessions`;
      }
      at.calls.forEach((call, index) => {
        if (asked[index]?.through === liar) return;
        if (call === "sent" || (typeof call !== "string" && call._tag !== "Signed"))
          throw new Violation(
            "LK1",
            "all members are up, and nothing is on its way",
            `caller ${index} has ${wordsOf(call)}`,
          );
      });
      return undecidedIn(at);
    },
  };
};

const wordsOf = (call: Configuration["calls"][number]): string => {
  if (typeof call === "string") return "no answer";
  return call._tag === "Rejected" ? call.rejection.detail : call._tag;
};
