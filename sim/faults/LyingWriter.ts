/** A writer whose proposals are not what the request says, in one respect or another: honest members must refuse them. */
import type { Digest } from "../../core/base/Digest.ts";
import type { Proposal } from "../../core/protocol/Proposal.ts";
import type { Unit } from "../base/Choices.ts";
import type { Product } from "../models/Product.ts";
import type { Lie } from "./Traitor.ts";

const FOREIGN = "e".repeat(64) as Digest;

type Falsify = (product: Product, proposal: Proposal) => Proposal;

/** One with effects that do not follow from the request: one of the lies that its command knows. */
const doing =
  (number: number): Falsify =>
  (product, proposal) => {
    const { lies } = product.changing(proposal.kind);
    return (lies[number % lies.length] ?? lies[0])(proposal);
  };

/** One with a false field beside its effects. */
const saying =
  (change: (proposal: Proposal) => Partial<Proposal>): Falsify =>
  (_product, proposal) => ({ ...proposal, ...change(proposal) });

const falsehoods: readonly [Falsify, ...ReadonlyArray<Falsify>] = [
  doing(1),
  doing(2),
  doing(3),
  doing(4),
  doing(0),
  doing(5),
  doing(6),
  doing(7),
  saying(({ expiresAt }) => ({ expiresAt: expiresAt + 60_000 })),
  doing(8),
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
  doing(9),
  saying(({ effects }) => ({ effects: effects.subarray(0, -1) })),
  saying(({ proposedAt }) => ({ expiresAt: proposedAt })),
];

const falsified = (product: Product, unit: Unit, proposal: Proposal): Proposal => {
  const falsify = falsehoods[unit.between("lie number", 0, 0, falsehoods.length - 1)] ?? falsehoods[0];
  return falsify(product, proposal);
};

/** Lies to one member or to all, about some proposals. */
export const lyingWriter = (): Lie => (traitor, _to, message) => {
  if (message._tag !== "Prepare") return [message];
  const items = message.items.map((item) => {
    const unit = traitor.next();
    if (!unit.chance("lies", 300)) return item;
    traitor.world.marks.add("a writer lied about effects");
    return traitor.forge(item, falsified(traitor.world.product, unit, item.proposal)) ?? item;
  });
  return [{ ...message, items }];
};
