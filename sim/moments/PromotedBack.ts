/**
 * Peers of a promotion whose disks go back to before one of its steps, soon after that step or long after it: a source
 * to before what it has pinned, decided or finished, a target to before what it has signed, become or taken over.
 */
import type { Choices, Stretch, Unit } from "../base/Choices.ts";
import { SELF } from "../../core/protocol/Tables.ts";
import type { Write } from "../../core/Tables.ts";
import { mayBeRestored, mayForget } from "../faults/DeclaredRestore.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import type { Nemesis, World } from "../world/World.ts";
import { isolate, SECOND, struck } from "./Moment.ts";
import { isStep } from "./Promoting.ts";

const LATEST = 4 * SECOND;
/** Microseconds: an instance that is alone waits 5 s for its peers, and links take a while to come up again. */
const LONGEST_DEAF = 3 * SECOND;
/** Microseconds: in the middle of the next step, some steps later, or when all is done. */
const BACK_AFTER: readonly [Stretch, ...ReadonlyArray<Stretch>] = [
  [1, 2_000],
  [1, 200_000],
  [1, 2 * SECOND],
  [1, LATEST],
];

type Role = "source" | "target";

const isSource = ({ plan: { promotion } }: World, { slot }: SimPeer): boolean => slot === promotion?.source;

/** Once a peer takes part, whatever it writes is a step. */
const isNext = ({ disk, state }: SimPeer, role: Role, writes: ReadonlyArray<Write>): boolean =>
  role === "source"
    ? writes.some(({ table }) => table === "promotion") || disk.get("promotion", SELF)?.stage === "DONE"
    : isStep(writes) || (state?.rejoining.recovery === undefined && disk.holds("topology", SELF));

const isDecided = ({ disk }: SimPeer): boolean => {
  const stage = disk.get("promotion", SELF)?.stage;
  return stage !== undefined && stage !== "PINNED";
};

/** A disk, and what was on it. */
interface OlderDisk {
  readonly putBack: () => void;
  readonly stage: "PINNED" | "DECIDED" | "DONE" | undefined;
}

const diskOf = ({ disk }: SimPeer): OlderDisk => ({
  putBack: disk.photograph(),
  stage: disk.get("promotion", SELF)?.stage,
});

const mayComeBack = (world: World, peer: SimPeer, isDeclared: boolean): boolean =>
  !world.healed && !peer.isDamaged && (isDeclared ? mayBeRestored(world, peer) : mayForget(world, peer));

/** How often it is looked whether a decision is known to another peer. */
const LOOKS_AGAIN = SECOND / 10;

/**
 * A source comes back on a disk of the time when it was alone. It has no witness of what it has pinned, and nobody
 * promises anything where it alone knows what it decided (docs/protocol.md 4g): that is waited for.
 */
const sourceComesBack = (world: World, peer: SimPeer, older: OlderDisk, isDeclared: boolean, unit: Unit): void => {
  if (!mayComeBack(world, peer, isDeclared)) return;
  const isAlone = older.stage === undefined || older.stage === "PINNED";
  const isWitnessed = world.peers.some((each) => each !== peer && each.disk.holds("topology", SELF));
  if (!isAlone) return comesBack(world, peer, older, isDeclared);
  if (isWitnessed) {
    // It is told that there is nobody to be restored from, until somebody shows it that there is.
    if (isDeclared) declareOnceFoundOut(world, peer);
    // Callers may reach it before it hears of anybody.
    if (unit.chance("hears nobody", 800)) isolate(world, peer.slot, unit.between("for", 0, 1, LONGEST_DEAF));
    return comesBack(world, peer, older, false);
  }
  if (older.stage === undefined && isDecided(peer))
    return world.after(LOOKS_AGAIN, () => sourceComesBack(world, peer, older, isDeclared, unit));
  world.faults.add("disk from an older snapshot");
  world.marks.add("a source forgot what it had pinned or decided");
  world.restores.comeBackAlone(peer, older.putBack);
};

const declareOnceFoundOut = (world: World, peer: SimPeer): void =>
  world.after(LOOKS_AGAIN, () => {
    if (world.healed) return;
    if (peer.state?.fitness.quarantine === undefined) declareOnceFoundOut(world, peer);
    else world.restores.declare(peer);
  });

const comesBack = (world: World, peer: SimPeer, { putBack, stage }: OlderDisk, isDeclared: boolean): void => {
  if (!mayComeBack(world, peer, isDeclared)) return;
  const role: Role = isSource(world, peer) ? "source" : "target";
  world.faults.add(isDeclared ? "disk from an older snapshot, declared" : "disk from an older snapshot");
  if (role === "source" && stage !== "DONE") world.marks.add("a source came back from before a step of its promotion");
  if (role === "target") world.marks.add("a target came back from before a step of the promotion");
  world.restores.comeBackOn(peer, putBack, isDeclared);
};

/** One peer in this role comes back on the disk that it had before one of its steps. */
export const promotedBack = (choices: Choices, role: Role, isDeclared: boolean): Nemesis => {
  const atStep = choices.plan("older disk").oneOf("before step", 1, [1, 1, 1, 1, 2, 2, 3, 4, 6, 10, 30]);
  const counts = new Map<number, number>();
  const disks = new Map<number, OlderDisk>();
  let isOver = false;
  return {
    flushed: (world, peer, writes) => {
      if (isOver || isSource(world, peer) !== (role === "source")) return;
      const before = disks.get(peer.slot);
      disks.set(peer.slot, diskOf(peer));
      if (before === undefined || !isNext(peer, role, writes)) return;
      const count = (counts.get(peer.slot) ?? 0) + 1;
      counts.set(peer.slot, count);
      const unit = struck(world, world.choices.stream("moment").next(), "moment", count === atStep);
      if (unit === undefined) return;
      isOver = true;
      world.after(unit.spread("comes back after", 20_000, BACK_AFTER, 1, LATEST), () =>
        role === "source"
          ? sourceComesBack(world, peer, before, isDeclared, unit)
          : comesBack(world, peer, before, isDeclared),
      );
    },
  };
};
