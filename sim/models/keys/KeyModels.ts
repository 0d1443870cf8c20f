/** The models of all that is done with keys: commands that make and end them, and services that use and repair them. */
import { Violation } from "../../base/Violation.ts";
import {
  creation,
  ending,
  type KeyEnding,
  type KeyMaking,
  renewal,
  repairing,
  type Repairing,
  signing,
  type Signing,
} from "../../requests/KeyRequests.ts";
import { assertAllowed, unasked } from "../../requests/Success.ts";
import type { Changing, Model } from "../Model.ts";
import { endingIn, makingIn, otherEnding, otherMaking } from "./KeyEffects.ts";
import { keyRegistry } from "./KeyRegistry.ts";
import { keySubject } from "./KeySubject.ts";

const permission = { needed: "service.dkg.create", other: "service.approvers.register", isNeeded: true };

/** Nothing of keys is kept in the history of approvers. */
const apart = { permission, deeds: () => [], meaning: () => undefined, refusedAs: () => "no" as const };

const notAsked = (requestId: string, asked: string, told: string): Violation =>
  new Violation("S14", `request ${requestId} asks for ${asked}`, `it was answered with ${told}`);

const lie =
  (change: Parameters<typeof otherMaking>[1]): Changing["lies"][0] =>
  (proposal) =>
    otherMaking(proposal, change);

const MADE_BY = { create: "CREATE", rotate: "ROTATE", refresh: "REFRESH" } as const;

const EVENTS = { CREATE: "KEY_CREATED", ROTATE: "KEY_ROTATED", REFRESH: "KEY_REFRESHED" } as const;

const changing: Pick<Changing, "registry"> = { registry: keyRegistry };

export const makeKey: Model<KeyMaking> = {
  ...apart,
  kind: "KEYGEN",
  rewritten: (commands, asked) =>
    // What is wrong for its suite stays so.
    asked.edge !== undefined
      ? asked
      : asked.act === "create"
        ? creation(commands, asked.keyId, { ...asked, assetOwner: "rewritten" })
        : renewal(commands, asked.act, { ...asked, assetOwner: "rewritten" }),
  assertMeant: (requestId, asked, token, answer) => {
    if (answer._tag !== "KeyMade") throw unasked(requestId, asked.kind, answer);
    const { key, generation, created } = answer;
    const { keyId, algorithm, scheme = key.scheme, act, base } = asked;
    const isFollowing = generation.generation === base + 1 && generation.madeBy === MADE_BY[act];
    const isOf = algorithm === undefined || (key.algorithm === algorithm && key.scheme === scheme);
    // Whoever repeats a creation later is told of the key as it is by then.
    const isLater = act === "create" && !created;
    if (key.keyId !== keyId || generation.keyId !== keyId || !isOf || !(isFollowing || isLater))
      throw notAsked(
        requestId,
        `${act} of ${keyId} upon generation ${base}`,
        `generation ${generation.generation} of ${key.keyId}, ${key.algorithm} and ${key.scheme}, made by ${generation.madeBy}`,
      );
    assertAllowed(requestId, token);
  },
  changes: {
    ...changing,
    auditOf: (proposal) => {
      const { madeBy, generation } = makingIn(proposal).generation;
      return { event: EVENTS[madeBy], generation };
    },
    changeOf: (proposal) => {
      const { key } = makingIn(proposal);
      return { subject: keySubject, ref: key.keyId, revision: key.revision, row: key };
    },
    locksOf: (proposal) => {
      const { key, keyIdentity } = makingIn(proposal);
      return [`gen:${key.keyId}`, `key:${keyIdentity}`];
    },
    nameOf: (proposal) => makingIn(proposal).key.keyId,
    askedOf: (commands, { request }) => commands.byRequest("KEYGEN", request),
    lies: [
      lie(({ key, generation }) => ({
        key: { ...key, keyId: "mallory" },
        generation: { ...generation, keyId: "mallory" },
      })),
      lie(({ generation }) => ({ generation: { ...generation, publicKey: `54${"0".repeat(15)}1` } })),
      lie(({ key }) => ({ key: { ...key, assetOwner: "mallory" } })),
      lie(({ generation }) => ({ generation: { ...generation, authorities: [] } })),
      lie(({ key, generation }) => ({
        key: { ...key, generation: key.generation + 1 },
        generation: { ...generation, generation: generation.generation + 1 },
      })),
      lie(({ generation }) => ({ generation: { ...generation, group: { ...generation.group, threshold: 1 } } })),
    ],
    restamped: (proposal, proposedAt) =>
      otherMaking({ ...proposal, proposedAt }, ({ key, generation }) => ({
        key: { ...key, updatedAt: Math.max(proposedAt, key.updatedAt) },
        generation: { ...generation, createdAt: proposedAt },
      })),
  },
};

export const destroyKey: Model<KeyEnding> = {
  ...apart,
  kind: "DESTROY",
  // A key ends with its active generation alone.
  rewritten: (commands, asked) =>
    ending(commands, {
      ...asked,
      isFinal: !asked.isFinal,
      generation: asked.isFinal ? asked.generation : asked.base,
    }),
  assertMeant: (requestId, { kind, keyId, generation, isFinal }, token, answer) => {
    if (answer._tag !== "KeyDestroyed") throw unasked(requestId, kind, answer);
    const isEnded = answer.generation.generation === generation && answer.generation.state === "DESTROYED";
    // The generation in use goes with its key only.
    const isWhole = isFinal ? answer.key.status === "DESTROYED" : generation < answer.key.generation;
    if (answer.key.keyId !== keyId || !isEnded || !isWhole)
      throw notAsked(
        requestId,
        `the end of generation ${generation} of ${keyId}`,
        `generation ${answer.generation.generation} of ${answer.key.keyId}, which is ${answer.generation.state}`,
      );
    assertAllowed(requestId, token);
  },
  changes: {
    ...changing,
    auditOf: (proposal) => ({
      event: "GENERATION_DESTROYED",
      generation: endingIn(proposal).generation.generation,
    }),
    changeOf: (proposal) => {
      const { key } = endingIn(proposal);
      return { subject: keySubject, ref: key.keyId, revision: key.revision, row: key };
    },
    locksOf: (proposal) => [`gen:${endingIn(proposal).key.keyId}`],
    nameOf: (proposal) => endingIn(proposal).key.keyId,
    askedOf: (commands, { request }) => commands.byRequest("DESTROY", request),
    lies: [
      (proposal) =>
        otherEnding(proposal, ({ key, generation }) => ({
          key: { ...key, keyId: "mallory" },
          generation: { ...generation, keyId: "mallory" },
        })),
      (proposal) =>
        otherEnding(proposal, ({ generation }) => ({
          generation: { ...generation, generation: generation.generation + 1 },
        })),
      (proposal) => otherEnding(proposal, ({ key }) => ({ key: { ...key, status: "DESTROYED" } })),
    ],
    restamped: (proposal, proposedAt) =>
      otherEnding({ ...proposal, proposedAt }, ({ key, generation }) => ({
        key: { ...key, updatedAt: Math.max(proposedAt, key.updatedAt) },
        generation: { ...generation, destroyedAt: proposedAt },
      })),
  },
};

export const signWithKey: Model<Signing> = {
  ...apart,
  kind: "SIGN",
  rewritten: (commands, asked) => signing(commands, { ...asked, data: Uint8Array.of(...asked.data).fill(1) }),
  // Whether it is one K14 says.
  assertMeant: (requestId, { kind, keyId, generation }, token, answer) => {
    if (answer._tag !== "Signed") throw unasked(requestId, kind, answer);
    if (answer.type !== "arbitrary" || (generation !== undefined && answer.generation !== generation))
      throw notAsked(
        requestId,
        `a signature with generation ${generation} of ${keyId}`,
        `one with ${answer.generation}`,
      );
    assertAllowed(requestId, token);
  },
  changes: undefined,
};

export const repairShare: Model<Repairing> = {
  ...apart,
  kind: "REPAIR",
  rewritten: (commands, asked) => repairing(commands, { ...asked, helpers: asked.helpers.toReversed() }),
  assertMeant: (requestId, { kind }, token, answer) => {
    if (answer._tag !== "Repaired") throw unasked(requestId, kind, answer);
    assertAllowed(requestId, token);
  },
  changes: undefined,
};
