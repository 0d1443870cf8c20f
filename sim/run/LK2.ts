/**
 * LK2, asked before anything is healed: as many members as sign, of those that are up, unsealed and sound, are left alone
 * with each other, whatever has become of the rest and of changes under way. They sign.
 */
import { allRows } from "../../core/protocol/AllRows.ts";
import { modeOf } from "../../core/protocol/Mode.ts";
import type { Unit } from "../base/Choices.ts";
import { Violation } from "../base/Violation.ts";
import { countOf } from "../checkers/Ghost.ts";
import { generationAt } from "../checkers/KeyFacts.ts";
import { signing } from "../requests/KeyRequests.ts";
import type { Asked } from "../requests/Asked.ts";
import { type Outcome, outcomeText } from "../requests/Outcome.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import type { World } from "../world/World.ts";

const SECOND = 1_000_000;
const PATIENCE = 30 * SECOND;

const isFit = (peer: SimPeer): boolean =>
  peer.honest &&
  !peer.isDamaged &&
  !peer.isSealing &&
  peer.state?.fitness.unsealed === true &&
  modeOf(peer.state) === "active";

/** Some of them, as many as sign, from a drawn one on. */
const signersOf = (world: World, threshold: number, unit: Unit): ReadonlyArray<SimPeer> => {
  const first = unit.between("first that signs", 1, 1, world.plan.peers);
  return world.peers
    .filter(isFit)
    .toSorted((one, other) => Number(one.slot < first) - Number(other.slot < first))
    .slice(0, threshold);
};

/** Everybody else is away, but for members that lie: these go on. */
const leaveAlone = (world: World, fit: ReadonlyArray<SimPeer>, calm: (world: World) => void): void => {
  if (world.ghost.lying !== 0) {
    world.marks.add("signatures went on beside a member that lies");
    return;
  }
  for (const peer of world.peers) if (peer.isUp && !fit.includes(peer)) world.processes.crash(peer, "process", false);
  calm(world);
  for (const peer of fit) world.clocks.setRight(peer);
  world.marks.add("signatures went on before anything was healed");
};

/** What members are about to change; a proposal that nobody prepared may be a lie, and no saying what it would change. */
const changingIn = ({ ghost }: World): ReadonlySet<string> =>
  new Set(
    [...ghost.proposals.values()].flatMap(({ proposal, receipts, applied, aborted }) =>
      receipts === 0 || applied === ghost.everyone || aborted === ghost.everyone
        ? []
        : [ghost.product.changeOf(proposal).ref],
    ),
  );

/** A key that signs with shares all of these have, and that nobody is about to change. */
const keyOf = (world: World, peers: ReadonlyArray<SimPeer>): string | undefined => {
  const changing = changingIn(world);
  const [first] = peers;
  if (first === undefined) return undefined;
  return allRows(first.store, "custodyKeys").find(
    ({ keyId, status, generation, scheme }) =>
      status === "ACTIVE" &&
      scheme === "EdDSA" &&
      !changing.has(keyId) &&
      peers.every(
        ({ store }) =>
          store.get("custodyKeys", keyId)?.generation === generation &&
          generationAt(store, keyId, generation)?.state === "ACTIVE" &&
          store.get("shares", `${keyId}/${String(generation).padStart(16, "0")}`) !== undefined,
      ),
  )?.keyId;
};

/** Whether they are the processes that they were, and have the key as it was: beside a member that lies all else goes on. */
const standing = (world: World, fit: ReadonlyArray<SimPeer>, keyId: string): string => {
  const keys = fit.map(({ store }) => {
    const { status, generation } = store.get("custodyKeys", keyId) ?? {};
    return [status, generation];
  });
  const processes = fit.map(({ process, isUp }) => [process, isUp]);
  return JSON.stringify([keys, processes, changingIn(world).has(keyId)]);
};

const data = Uint8Array.of(...Array.from({ length: 32 }, (_, at) => 255 - at));

/**
 * @param calm stops every fault, and brings nobody back
 * @throws {Violation} LK2
 */
export const assertSigningSurvives = (
  world: World,
  calm: (world: World) => void,
  attempt: (peer: SimPeer, asked: Asked) => Outcome,
  unit: Unit,
): void => {
  const { ghost } = world;
  const { threshold = 0, members = [] } = ghost.membership?.topology ?? {};
  // A member on its way back from an old disk may lack its share.
  if (threshold === members.length || (ghost.forgetful | ghost.restored | ghost.away) !== 0) return;
  // Beside one that lies only where nothing else goes wrong, for whatever does goes on.
  if (ghost.lying !== 0 && (world.plan.faults.size > 0 || world.plan.peers - countOf(ghost.lying) < threshold)) return;
  const fit = signersOf(world, threshold, unit);
  const keyId = fit.length < threshold ? undefined : keyOf(world, fit);
  const [through] = fit;
  if (keyId === undefined || through === undefined) return;
  leaveAlone(world, fit, calm);
  const asked = signing(world.commands, { keyId, scheme: "EdDSA", hash: undefined, data, generation: undefined });
  const before = standing(world, fit, keyId);
  for (const until = world.now + PATIENCE; ; world.run(world.now + SECOND / 2)) {
    const outcome = attempt(through, asked);
    if (typeof outcome !== "string" && outcome._tag === "Signed") return;
    if (world.ghost.lying !== 0 && standing(world, fit, keyId) !== before) return;
    if (world.now >= until)
      throw new Violation(
        "LK2",
        `peers ${fit.map(({ slot }) => slot).join(", ")} are up and unsealed, and have shares of ${keyId}`,
        `while the others are away or lie, peer ${through.slot} gave ${outcomeText(outcome)}`,
      );
  }
};
