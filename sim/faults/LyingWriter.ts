/** A writer whose proposals are not what the request says, in one respect or another: honest members must refuse them. */
import type { Digest } from "../../core/Digest.ts";
import type { Proposal } from "../../core/protocol/Proposal.ts";
import type { Unit } from "../Choices.ts";
import type { Lie } from "./Traitor.ts";

const FOREIGN = "e".repeat(64) as Digest;

type Falsify = (proposal: Proposal) => Partial<Proposal>;

const falsehoods: readonly [Falsify, ...ReadonlyArray<Falsify>] = [
  ({ effects }) => ({ effects: { ...effects, metadata: [["team", "mallory"]] } }),
  ({ effects }) => ({ effects: { ...effects, metadata: [...effects.metadata, ["more", "1"]] } }),
  ({ effects }) => ({ effects: { ...effects, createdAt: effects.createdAt - 1 } }),
  ({ effects }) => ({ effects: { ...effects, updatedAt: effects.updatedAt + 1 } }),
  ({ effects }) => ({ effects: { ...effects, id: "mallory" } }),
  ({ effects }) => ({ effects: { ...effects, ref: `mallory@sha256:${"0".repeat(64)}` } }),
  ({ effects }) => ({ effects: { ...effects, keyIdentity: FOREIGN } }),
  ({ effects }) => ({ effects: { ...effects, newRevision: effects.newRevision + 1 } }),
  ({ expiresAt }) => ({ expiresAt: expiresAt + 60_000 }),
  ({ proposedAt, effects }) => ({
    proposedAt: proposedAt + 20_000,
    effects: { ...effects, createdAt: proposedAt + 20_000, updatedAt: proposedAt + 20_000 },
  }),
  ({ actor }) => ({ actor: { ...actor, sub: "mallory" } }),
  ({ actor }) => ({ actor: { ...actor, jti: "j1" } }),
  ({ request }) => ({ request: { ...request, path: "/v1/elsewhere" } }),
  ({ request }) => ({ request: { ...request, bodyDigest: FOREIGN } }),
  ({ requestId }) => ({ requestId: `${requestId}0` }),
  ({ entryPeer, writer }) => ({ entryPeer: entryPeer === writer ? writer + 1 : writer }),
  ({ incarnations }) => ({ incarnations: incarnations.map((each, index) => (index === 0 ? each + 1 : each)) }),
  () => ({ configDigest: FOREIGN }),
  ({ kind }) => ({ kind: kind === "METADATA" ? "REGISTER" : "METADATA" }),
  ({ effects }) => ({
    effects: { ...effects, baseRevision: (effects.baseRevision ?? 0) + 1, newRevision: effects.newRevision + 1 },
  }),
];

const falsified = (unit: Unit, proposal: Proposal): Proposal => {
  const falsify = falsehoods[unit.between("lie number", 0, 0, falsehoods.length - 1)] ?? falsehoods[0];
  return { ...proposal, ...falsify(proposal) };
};

/** Lies to one member or to all, about some proposals. */
export const lyingWriter = (): Lie => (traitor, _to, message) => {
  if (message._tag !== "Prepare") return [message];
  const items = message.items.map((item) => {
    const unit = traitor.next();
    if (!unit.chance("lies", 300)) return item;
    traitor.world.marks.add("a writer lied about effects");
    return traitor.forge(item, falsified(unit, item.proposal)) ?? item;
  });
  return [{ ...message, items }];
};
