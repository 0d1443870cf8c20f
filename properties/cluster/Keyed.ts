/** Custody keys on a test cluster: what their callers send, and what the members have of them. */
import type { ActorCheck } from "../../core/auth/ActorCheck.ts";
import { KEYS_PATH, keyPath, REPAIR_PERMISSION } from "../../core/commands/keys/KeyId.ts";
import type { Settings } from "../../core/protocol/Event.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import { actor, Cluster, rowsOf } from "./Cluster.ts";
import { posted } from "./Enrolling.ts";

/** A caller who may do everything with keys, and register approvers. */
export const keeper: ActorCheck =
  actor._tag === "Verified"
    ? {
        ...actor,
        claims: {
          ...actor.claims,
          permissions: ["service.dkg.*", "service.key.*.*", REPAIR_PERMISSION, "service.approvers.register"],
        },
      }
    : actor;

/** A founded cluster whose caller is {@link keeper}. */
export const keyed = (total = 3, override: (peerId: PeerId) => Partial<Settings> = () => ({})): Cluster => {
  const cluster = new Cluster(total, override);
  cluster.judge = () => keeper;
  cluster.pass(2_000);
  return cluster;
};

export const create = (cluster: Cluster, through: PeerId, requestId: string, change: object = {}): void =>
  cluster.ask(
    through,
    requestId,
    posted(KEYS_PATH, { keyId: "k1", algorithm: "ED25519", authorities: [{ id: "arbitrary" }], ...change }),
  );

export const renew = (
  cluster: Cluster,
  through: PeerId,
  requestId: string,
  act: "rotate" | "refresh",
  baseGeneration: number,
  keyId = "k1",
): void => cluster.ask(through, requestId, posted(keyPath(keyId, act), { baseGeneration }));

export const destroy = (cluster: Cluster, through: PeerId, requestId: string, body: object): void =>
  cluster.ask(through, requestId, posted(keyPath("k1", "destroy"), body));

/** How many keys, shares, and shares that wait for a proposal the peers have. */
export const held = (cluster: Cluster) => ({
  keys: rowsOf(cluster, "custodyKeys"),
  shares: rowsOf(cluster, "shares"),
  pending: rowsOf(cluster, "pending"),
});

/** The same number at each of three. */
export const each = (keys: number, shares: number, pending = 0) => ({
  keys: [keys, keys, keys],
  shares: [shares, shares, shares],
  pending: [pending, pending, pending],
});
