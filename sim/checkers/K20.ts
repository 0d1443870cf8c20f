/**
 * K20: a change of a key that is refused for what the key is, is refused for what some peer's rows have said of it: it
 * was made otherwise, is destroyed, or has moved on. A repeated creation finds its key. A repair is refused for its key
 * or its helpers, exactly where these will not do, and is done only once the shares are there. A generation that some
 * caller was told of is denied to nobody who asks after that at a peer that has it.
 */
import type { RejectionCode } from "../../core/base/Rejection.ts";
import type { Rows } from "../../core/Tables.ts";
import { Violation } from "../base/Violation.ts";
import {
  isKeyEnding,
  isKeyMaking,
  isRepairing,
  isSigning,
  type KeyEnding,
  type KeyMaking,
  type Repairing,
  type Signing,
} from "../requests/KeyRequests.ts";
import type { Checker, Reply, Watched } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";
import { type GenerationFacts, generationAt, generationKey, opensAt } from "./KeyFacts.ts";

type Key = Rows["custodyKeys"];

/** The scheme of an algorithm whose caller names none. */
const USUAL: Readonly<Record<string, string>> = { ED25519: "EdDSA", SECP256K1: "BIP340", P256: "ECDSA" };

/** Whether a creation asks for the key as it is; whose it is may have been said since. */
const isAsked = ({ algorithm = "", scheme = USUAL[algorithm], assetOwner }: KeyMaking, key: Key): boolean =>
  key.algorithm === algorithm &&
  key.scheme === scheme &&
  (assetOwner === undefined && key.generation > 1 ? true : key.assetOwner === assetOwner);

/** By code: whether a key as it was refuses the request so. */
const grounds: Partial<Record<RejectionCode, (asked: KeyMaking | KeyEnding, key: Key) => boolean>> = {
  KEY_ALREADY_EXISTS: (asked, key) =>
    isKeyMaking(asked) && asked.act === "create" && key.status === "ACTIVE" && !isAsked(asked, key),
  KEY_DESTROYED: (_asked, key) => key.status === "DESTROYED",
  GENERATION_MOVED: (asked, key) => key.generation !== asked.base,
};

const textOf = ({ status, generation, algorithm, scheme, assetOwner }: Key): string =>
  `${status}, generation ${generation}, ${algorithm} and ${scheme}, of ${assetOwner ?? "nobody"}`;

/** Whether as many others as sign are named, each once. */
const areHelpers = ({ slot, state }: Watched, { helpers }: Repairing): boolean => {
  const { threshold, members } = state?.cluster.membership?.topology ?? { threshold: 0, members: [] };
  const others = members.flatMap(({ peerId }) => (peerId === slot ? [] : [peerId]));
  return others.filter((each) => helpers.includes(each)).length === threshold && helpers.length === threshold;
};

/** By code: why a repair is not refused so. */
const repairFaults: Partial<
  Record<RejectionCode, (peer: Watched, asked: Repairing, status: Key["status"] | undefined) => string | undefined>
> = {
  INVALID_REQUEST_BODY: (peer, asked) => (areHelpers(peer, asked) ? "nothing is wrong with those helpers" : undefined),
  KEY_NOT_FOUND: (_peer, _asked, status) => (status === undefined ? undefined : `it has the key, ${status}`),
  KEY_DESTROYED: (_peer, _asked, status) =>
    status === "DESTROYED" ? undefined : `it has the key as ${status ?? "none"}`,
};

/** A generation that is told to be repaired, and is not. */
const missingStill = (peer: Watched, { keyId }: Repairing, repaired: ReadonlyArray<number>): string | undefined => {
  if (peer.opened === undefined || peer.isDamaged) return undefined;
  const missing = repaired.find((number) => {
    const row = generationAt(peer.store, keyId, number);
    return (row?.state === "ACTIVE" || row?.state === "HISTORICAL") && !opensAt(peer, row);
  });
  return missing === undefined ? undefined : `its share of generation ${missing} does not open there`;
};

/** Why the answer to a repair does not fit what was asked of this peer; undefined where it does. */
const repairFault = (peer: Watched, asked: Repairing, answer: Reply["answer"]): string | undefined => {
  // What is judged from outside has no state to judge by.
  if (peer.state?.cluster.membership === undefined) return undefined;
  if (answer._tag === "Repaired" && !areHelpers(peer, asked)) return "it was served, and those helpers will not do";
  if (answer._tag === "Repaired") return missingStill(peer, asked, answer.generations);
  if (answer._tag !== "Rejected") return undefined;
  return repairFaults[answer.rejection.code]?.(peer, asked, peer.store.get("custodyKeys", asked.keyId)?.status);
};

export const K20 = (ghost: Ghost): Checker => {
  /** By key: what any peer has had of it, each once. */
  const had = new Map<string, Map<string, Key>>();
  /** By generation: when a caller was first told that it is made, in microseconds, and which one it was. */
  const told = new Map<string, { readonly at: number; readonly facts: GenerationFacts | undefined }>();

  /** When a caller was first told of a generation. Once all were restored it may be made anew, as another. */
  const toldAtOf = (name: string): number | undefined => {
    const first = told.get(name);
    return first?.facts === ghost.keys.generations.get(name) ? first?.at : undefined;
  };

  const noteTold = ({ answer, repliedAt }: Reply): void => {
    if (answer._tag !== "KeyMade") return;
    const name = generationKey(answer.key.keyId, answer.generation.generation);
    const at = Math.min(repliedAt, toldAtOf(name) ?? repliedAt);
    told.set(name, { at, facts: ghost.keys.generations.get(name) });
  };

  const assertNotDenied = (
    { slot, store }: Watched,
    asked: Signing | KeyEnding,
    { requestId, askedAt }: Reply,
  ): void => {
    const { keyId, generation } = asked;
    if (generation === undefined)
      throw new Violation(
        "K20",
        `request ${requestId} for a signature with ${keyId} names no generation`,
        `peer ${slot} answered that there is no such one`,
      );
    const toldAt = toldAtOf(generationKey(keyId, generation));
    if (toldAt === undefined || askedAt === undefined || askedAt <= toldAt) return;
    if (generationAt(store, keyId, generation) !== undefined)
      throw new Violation(
        "K20",
        `a caller was told at ${toldAt} µs of generation ${generation} of ${keyId}, and peer ${slot} has it`,
        `request ${requestId}, ${asked.kind} at ${askedAt} µs, was told there that there is no such one`,
      );
  };

  return {
    id: "K20",
    written: {
      custodyKeys: (_peer, write) => {
        if (write.op === "remove") return;
        const known = had.get(write.row.keyId) ?? new Map<string, Key>();
        had.set(write.row.keyId, known.set(textOf(write.row), write.row));
      },
    },
    replied: (peer, reply) => {
      const { slot, honest } = peer;
      const { requestId, answer, asked } = reply;
      if (!honest || asked === undefined) return;
      noteTold(reply);
      const fault = isRepairing(asked) && asked.edge === undefined ? repairFault(peer, asked, answer) : undefined;
      if (fault !== undefined)
        throw new Violation(
          "K20",
          `peer ${slot} was asked in request ${requestId} for a repair, at ${asked.call.path}`,
          `it was answered ${answer._tag === "Rejected" ? answer.rejection.code : answer._tag}: ${fault}`,
        );
      if (ghost.lying !== 0 || answer._tag !== "Rejected") return;
      if (answer.rejection.code === "GENERATION_NOT_FOUND" && (isSigning(asked) || isKeyEnding(asked)))
        assertNotDenied(peer, asked, reply);
      if (!(isKeyMaking(asked) || isKeyEnding(asked)) || asked.edge?.refusedAs !== undefined) return;
      const isGround = grounds[answer.rejection.code];
      const known = [...(had.get(asked.keyId)?.values() ?? [])];
      if (isGround === undefined || known.some((key) => isGround(asked, key))) return;
      throw new Violation(
        "K20",
        `peer ${slot} refused request ${requestId}, ${asked.kind} of ${asked.keyId} upon generation ${asked.base}, with ${answer.rejection.code}`,
        `that key never was so anywhere: ${known.map(textOf).join("; ") || "nobody had it"}`,
      );
    },
  };
};
