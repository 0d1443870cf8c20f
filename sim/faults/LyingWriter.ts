/** A writer whose proposals are not what the request says, in one respect or another: honest members must refuse them. */
import type { Digest } from "../../core/base/Digest.ts";
import type { Proposal } from "../../core/protocol/Proposal.ts";
import type { Unit } from "../Choices.ts";
import { altered } from "../Effects.ts";
import type { Lie } from "./Traitor.ts";

const FOREIGN = "e".repeat(64) as Digest;

type Falsify = (proposal: Proposal) => Proposal;

/** One that is told of effects that do not follow from the request. */
const doing =
  (change: Parameters<typeof altered>[1]): Falsify =>
  (proposal) =>
    altered(proposal, change);

/** One that differs in what is not effects. */
const saying =
  (change: (proposal: Proposal) => Partial<Proposal>): Falsify =>
  (proposal) => ({ ...proposal, ...change(proposal) });

const falsehoods: readonly [Falsify, ...ReadonlyArray<Falsify>] = [
  doing(() => ({ metadata: [["team", "mallory"]] })),
  doing(({ metadata }) => ({ metadata: [...metadata, ["more", "1"]] })),
  doing(({ createdAt }) => ({ createdAt: createdAt - 1 })),
  doing(({ updatedAt }) => ({ updatedAt: updatedAt + 1 })),
  doing(() => ({ id: "mallory" })),
  doing(() => ({ ref: `mallory@sha256:${"0".repeat(64)}` })),
  doing(() => ({ keyIdentity: FOREIGN })),
  doing(({ newRevision }) => ({ newRevision: newRevision + 1 })),
  saying(({ expiresAt }) => ({ expiresAt: expiresAt + 60_000 })),
  (proposal) => {
    const proposedAt = proposal.proposedAt + 20_000;
    return altered({ ...proposal, proposedAt }, () => ({ createdAt: proposedAt, updatedAt: proposedAt }));
  },
  saying(({ actor }) => ({ actor: { ...actor, sub: "mallory" } })),
  saying(({ actor }) => ({ actor: { ...actor, jti: "j1" } })),
  saying(({ request }) => ({ request: { ...request, path: "/v1/elsewhere" } })),
  saying(({ request }) => ({ request: { ...request, bodyDigest: FOREIGN } })),
  saying(({ requestId }) => ({ requestId: `${requestId}0` })),
  saying(({ entryPeer, writer }) => ({ entryPeer: entryPeer === writer ? writer + 1 : writer })),
  saying(({ incarnations }) => ({
    incarnations: incarnations.map((each, index) => (index === 0 ? each + 1 : each)),
  })),
  saying(() => ({ configDigest: FOREIGN })),
  saying(({ kind }) => ({ kind: kind === "METADATA" ? "REGISTER" : "METADATA" })),
  doing(({ baseRevision, newRevision }) => ({ baseRevision: (baseRevision ?? 0) + 1, newRevision: newRevision + 1 })),
  saying(({ effects }) => ({ effects: effects.subarray(0, -1) })),
];

const falsified = (unit: Unit, proposal: Proposal): Proposal => {
  const falsify = falsehoods[unit.between("lie number", 0, 0, falsehoods.length - 1)] ?? falsehoods[0];
  return falsify(proposal);
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
