/**
 * What must come about with keys once everything works. LK1: signatures succeed through every peer. LK2: so they do while
 * as many members are down as may be. LK3: keys are made, renewed and destroyed. LK4: a lost share is repaired.
 */
import { allRows } from "../../core/protocol/AllRows.ts";
import type { Rows, RowView } from "../../core/Tables.ts";
import { Violation } from "../base/Violation.ts";
import type { Unit } from "../base/Choices.ts";
import { generationKey, type Help, helpFrom } from "../checkers/KeyFacts.ts";
import type { Asked } from "../requests/Asked.ts";
import { creation, ending, renewal, repairing, signing } from "../requests/KeyRequests.ts";
import { type Outcome, outcomeText } from "../requests/Outcome.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import type { World } from "../world/World.ts";

const SECOND = 1_000_000;
const PATIENCE = 60 * SECOND;
/** Callers' own keys have other names. */
const KEY = "healed-key";

/** What it takes to ask, and to bring back who was put away. */
interface Hands {
  readonly attempt: (peer: SimPeer, asked: Asked) => Outcome;
  readonly bringBack: (peers: ReadonlyArray<SimPeer>) => void;
}

const isAnswer = (outcome: Outcome, wanted: string): boolean => typeof outcome !== "string" && outcome._tag === wanted;

const insist = (
  world: World,
  { attempt }: Hands,
  id: string,
  peer: SimPeer,
  asked: Asked,
  wanted: string | ((outcome: Outcome) => boolean),
): void => {
  const until = world.now + PATIENCE;
  for (;;) {
    const outcome = attempt(peer, asked);
    if (typeof wanted === "string" ? isAnswer(outcome, wanted) : wanted(outcome)) return;
    if (world.now >= until)
      throw new Violation(
        id,
        "everything was healed",
        `${asked.call.path} through peer ${peer.slot} gave ${outcomeText(outcome)}`,
      );
    world.run(world.now + SECOND);
  }
};

const data = Uint8Array.of(...Array.from({ length: 32 }, (_, at) => at));

const signed = ({ commands }: World, keyId: string): Asked =>
  signing(commands, { keyId, scheme: "EdDSA", hash: undefined, data, generation: undefined });

/** A peer, as far as its disk tells of it. */
interface Holder {
  readonly slot: number;
  readonly store: RowView;
}

const hasShare = ({ store }: Holder, { keyId, generation }: Rows["generations"]): boolean =>
  store.get("shares", generationKey(keyId, generation)) !== undefined;

const isKept = ({ state }: Rows["generations"]): boolean => state === "ACTIVE" || state === "HISTORICAL";

const isWhole = ({ group }: Rows["generations"]): boolean => group.verifyingShares.length === 0;

/** A share that some peer lacks, and what a repair of it has to come to. */
interface Owed<P> extends Help {
  readonly peer: P;
  /** The generation that signs. */
  readonly row: Rows["generations"];
}

/**
 * A share of a key that signs which some peer lacks and as many others as sign can repair, if there is one.
 *
 * @param source the peer that was alone before a promotion; what was whole there and is lost nobody can give it
 */
export const owedRepair = <P extends Holder>(
  peers: ReadonlyArray<P>,
  threshold: number,
  source: number | undefined,
): Owed<P> | undefined => {
  for (const peer of peers) {
    const rows = allRows(peer.store, "generations").filter((row) => isKept(row));
    for (const row of rows) {
      if (row.state !== "ACTIVE" || isWhole(row) || hasShare(peer, row)) continue;
      const ofKey = rows.filter(({ keyId }) => keyId === row.keyId);
      const missing = ofKey.filter((each) => !hasShare(peer, each));
      const lacking = missing.flatMap((each) => (isWhole(each) ? [] : [each.generation]));
      const others = peers
        .filter((each) => each !== peer && hasShare(each, row))
        .map((each) => ({
          slot: each.slot,
          generations: new Set(ofKey.flatMap((one) => (hasShare(each, one) ? [one.generation] : []))),
        }));
      const help = helpFrom(others, lacking, threshold);
      const hasLostWhole = peer.slot === source && missing.some((each) => isWhole(each));
      if (help !== undefined) return { peer, row, ...help, isForAll: help.isForAll && !hasLostWhole };
    }
  }
  return undefined;
};

/** Repairs a share that a restored peer lacks, of a key that signs. */
const assertRepairable = (world: World, hands: Hands): void => {
  const { topology, before } = world.ghost.membership ?? {};
  const { threshold = 1, members = [] } = topology ?? {};
  if (threshold >= members.length) return;
  const owed = owedRepair(world.peers, threshold, before?.writer);
  if (owed === undefined) return;
  const { peer, row, helpers, isForAll } = owed;
  world.marks.add("a share was repaired in the end");
  // Where something else stays lost, each answer is that; what signs is stored nevertheless.
  const isRepaired = (outcome: Outcome): boolean => (isForAll ? isAnswer(outcome, "Repaired") : hasShare(peer, row));
  insist(world, hands, "LK4", peer, repairing(world.commands, { keyId: row.keyId, helpers }), isRepaired);
};

/** A key that was whole before a promotion is refused by name, and signs once it is refreshed. */
const assertShared = (world: World, hands: Hands, any: (label: string) => SimPeer): void => {
  const { members = [] } = world.ghost.membership?.topology ?? {};
  const { store } = any("knows a whole key");
  const whole = allRows(store, "generations").find(
    ({ state, keyId, group }) =>
      state === "ACTIVE" &&
      group.verifyingShares.length === 0 &&
      store.get("custodyKeys", keyId)?.status === "ACTIVE" &&
      members.length > 1,
  );
  if (whole === undefined) return;
  const { keyId, generation: base } = whole;
  const { commands } = world;
  const { scheme = "" } = store.get("custodyKeys", keyId) ?? {};
  const sign = signing(commands, { keyId, scheme, hash: undefined, data, generation: undefined });
  for (const peer of world.peers) {
    const outcome = hands.attempt(peer, sign);
    if (typeof outcome !== "string" && outcome._tag === "Signed")
      throw new Violation("K7", `${keyId} is whole at one member`, `peer ${peer.slot} signed with it`);
  }
  const refresh = renewal(commands, "refresh", { keyId, base, assetOwner: undefined });
  insist(world, hands, "LK3", any("shares a whole key"), refresh, "KeyMade");
  for (const peer of world.peers) insist(world, hands, "LK1", peer, sign, "Signed");
  world.marks.add("a key was shared after the promotion");
};

/** As many members as may be are down: the others sign. */
const assertSigningGoesOn = (world: World, hands: Hands, unit: Unit): void => {
  const { threshold = 1 } = world.ghost.membership?.topology ?? {};
  const { length } = world.peers;
  const first = unit.between("first that is down", 1, 1, length);
  const down = world.peers.filter(({ slot }) => (slot - first + length) % length < length - threshold);
  if (down.length === 0) return;
  for (const peer of down) world.processes.crash(peer, "process", false);
  for (const peer of world.peers)
    if (!down.includes(peer)) insist(world, hands, "LK2", peer, signed(world, KEY), "Signed");
  world.marks.add("signatures went on while members were down");
  hands.bringBack(down);
};

/** Longer than anybody keeps what nobody goes on with, and looks for that. */
const FORGOTTEN = 13 * SECOND;
/** Of modules, the memory that is for what is under way. */
const underWay = [
  ["signing", "sessions"],
  ["signing", "requests"],
  ["signing", "waiting"],
  ["repairs", "repairs"],
  ["repairs", "helping"],
] as const;

/** K16: what nobody goes on with is forgotten. */
const assertForgotten = (world: World): void => {
  // Whoever lies goes on and on.
  if (world.ghost.lying !== 0) return;
  world.run(world.now + FORGOTTEN);
  for (const { slot, state } of world.peers) {
    const modules = state?.modules as Readonly<Record<string, Readonly<Record<string, { readonly size: number }>>>>;
    for (const [slice, part] of underWay) {
      const size = modules?.[slice]?.[part]?.size ?? 0;
      if (size > 0)
        throw new Violation(
          "K16",
          `nobody has used a key for ${FORGOTTEN / SECOND} s`,
          `peer ${slot} still has ${size} ${part} of ${slice}`,
        );
    }
  }
  world.marks.add("nothing was left of the use of keys");
};

/** @throws {Violation} LK1 to LK4, K16 */
export const assertKeysUsable = (world: World, hands: Hands, unit: Unit): void => {
  const { commands } = world;
  const { peers } = world.plan;
  const any = (label: string): SimPeer => world.peer(unit.between(label, 1, 1, peers));
  assertRepairable(world, hands);
  assertShared(world, hands, any);
  const wanted = { algorithm: "ED25519", scheme: "EdDSA", assetOwner: undefined };
  insist(world, hands, "LK3", any("creates"), creation(commands, KEY, wanted), "KeyMade");
  for (const peer of world.peers) insist(world, hands, "LK1", peer, signed(world, KEY), "Signed");
  const renewed = (act: "rotate" | "refresh", base: number): Asked =>
    renewal(commands, act, { keyId: KEY, base, assetOwner: undefined });
  // A key that is not shared has nothing to refresh, and is told so.
  const acts = ["rotate", "refresh"] as const;
  const [first] = unit.chance("refreshes first", 500) ? acts.toReversed() : acts;
  insist(world, hands, "LK3", any("renews"), renewed(first ?? "rotate", 1), "KeyMade");
  if (first === "rotate") {
    const old = { keyId: KEY, base: 2, generation: 1, isFinal: false };
    insist(world, hands, "LK3", any("destroys"), ending(commands, old), "KeyDestroyed");
  }
  assertSigningGoesOn(world, hands, unit);
  if (unit.chance("waits until all is forgotten", 300)) assertForgotten(world);
};
