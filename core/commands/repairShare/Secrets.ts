/** Secrets of a repair on their way: each in a box for one receiver, of one session, generation and purpose. */
import type { Digest } from "../../base/Digest.ts";
import type { PeerId } from "../../protocol/Topology.ts";
import type { Boxes, BoxKey } from "../../threshold/Suite.ts";
import type { Secret } from "../../threshold/Secret.ts";
import type { Wanted } from "./RepairMessages.ts";

/** Which secrets: of whom for whom, in which session. */
export interface Route {
  readonly what: "part" | "sum";
  /** Whose share is repaired. */
  readonly target: PeerId;
  /** The digest of all that it has asked, the helpers among it: what answers different questions never adds up. */
  readonly asked: Digest;
  readonly generations: ReadonlyArray<Wanted>;
  readonly from: PeerId;
  readonly to: PeerId;
}

const placeOf = ({ what, target, asked, from, to }: Route, { generation }: Wanted): string =>
  `repair ${what} ${target} ${asked} ${generation} ${from} ${to}`;

/** One box for each generation, in order; undefined where the receiver's key is none that gives a secret. */
export const sealedFor = (
  boxes: Boxes,
  seed: Secret,
  theirs: BoxKey,
  route: Route,
  secrets: ReadonlyArray<Secret>,
): ReadonlyArray<Uint8Array> | undefined => {
  try {
    return route.generations.flatMap((wanted, at) => {
      const secret = secrets[at];
      return secret === undefined ? [] : [boxes.seal(seed, theirs, placeOf(route, wanted), secret)];
    });
  } catch {
    return undefined;
  }
};

/** What is in them; undefined at the first that does not open, or where there are not as many as generations. */
export const openedFrom = (
  boxes: Boxes,
  seed: Secret,
  theirs: BoxKey,
  route: Route,
  sealed: ReadonlyArray<Uint8Array>,
): ReadonlyArray<Secret> | undefined => {
  if (sealed.length !== route.generations.length) return undefined;
  const secrets: Array<Secret> = [];
  for (const [at, wanted] of route.generations.entries()) {
    const box = sealed[at];
    const secret = box && boxes.open(seed, theirs, placeOf(route, wanted), box);
    if (secret === undefined) {
      for (const each of secrets) each.wipe();
      return undefined;
    }
    secrets.push(secret);
  }
  return secrets;
};
