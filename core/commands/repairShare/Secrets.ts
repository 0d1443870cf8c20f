/** Secrets of a repair on their way: each in a box for one receiver, of one session, generation and purpose. */
import type { Digest } from "../../base/Digest.ts";
import type { PeerId } from "../../protocol/Topology.ts";
import type { Boxes, BoxKey } from "../../threshold/Suite.ts";
import type { Secret } from "../../threshold/Secret.ts";
import type { Wanted } from "./RepairMessages.ts";

/** Which secrets: of whom for whom, in which session. */
export interface Route {
  readonly what: "part" | "sum";
  readonly sessionId: Digest;
  readonly keyId: string;
  readonly generations: ReadonlyArray<Wanted>;
  readonly from: PeerId;
  readonly to: PeerId;
}

const placeOf = ({ what, sessionId, keyId, from, to }: Route, { generation }: Wanted): string =>
  `repair ${what} ${sessionId} ${keyId} ${generation} ${from} ${to}`;

/** One box for each generation, in order. */
export const sealedFor = (
  boxes: Boxes,
  seed: Secret,
  theirs: BoxKey,
  route: Route,
  secrets: ReadonlyArray<Secret>,
): ReadonlyArray<Uint8Array> =>
  route.generations.flatMap((wanted, at) => {
    const secret = secrets[at];
    return secret === undefined ? [] : [boxes.seal(seed, theirs, placeOf(route, wanted), secret)];
  });

/** What is in them; undefined where one does not open, or there are not as many as generations. */
export const openedFrom = (
  boxes: Boxes,
  seed: Secret,
  theirs: BoxKey,
  route: Route,
  sealed: ReadonlyArray<Uint8Array>,
): ReadonlyArray<Secret> | undefined => {
  if (sealed.length !== route.generations.length) return undefined;
  const secrets = route.generations.flatMap((wanted, at) => {
    const box = sealed[at];
    return box === undefined ? [] : (boxes.open(seed, theirs, placeOf(route, wanted), box) ?? []);
  });
  return secrets.length === sealed.length ? secrets : undefined;
};
