/**
 * L9: a request behind an expired proposal that nobody has settled is answered. When everything is healed, what is
 * undecided past its deadline is asked for again, through any peer, until the answer is about the request and no
 * longer about the cluster.
 */
import type { Answer } from "../../core/Action.ts";
import { type Proposal, proposalId } from "../../core/protocol/Proposal.ts";
import type { Asked } from "../requests/Asked.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import { Violation } from "../base/Violation.ts";
import { type Outcome, outcomeText } from "../requests/Outcome.ts";
import { votesOn } from "../checkers/Votes.ts";
import type { World } from "../world/World.ts";

const SECOND = 1_000_000;
/** Sixteen rounds: the slowest timer of the protocol fires every 5 s. */
const PATIENCE = 80 * SECOND;
/** How many of each kind are asked for. */
const ASKED = 2;

/** Sends one request and lets the world run until it is answered or given up. */
export type Attempt = (peer: SimPeer, asked: Asked) => Outcome;

/** The request that its caller once sent; undefined where asking for it again would tell nothing. */
const requestOf = ({ commands, product }: World, proposal: Proposal): Asked | undefined =>
  product.changing(proposal.kind).askedOf(commands, proposal);

/** Undecided somewhere, and past its deadline by a perfect clock. */
const expired = (world: World): ReadonlyArray<Proposal> => {
  const open = new Map(
    world.peers.flatMap(({ state }) =>
      [...(state?.undecided.preparations ?? [])].map(([id, { proposal }]) => [id, proposal]),
    ),
  );
  const late = [...open.values()].filter(({ expiresAt }) => expiresAt < world.realMillis);
  return world.product.models.flatMap((model) => late.filter(({ kind }) => kind === model.kind).slice(0, ASKED));
};

const isAboutCluster = (answer: Answer): boolean =>
  answer._tag === "Rejected" &&
  (answer.rejection.outcomeUnknown ||
    answer.rejection.code === "APPROVER_REPLICATION_UNAVAILABLE" ||
    answer.rejection.code === "PREPARATION_CAPACITY");

const assertAnswered = (world: World, attempt: Attempt, proposal: Proposal, asked: Asked): void => {
  const until = world.now + PATIENCE;
  const id = proposalId(world.ghost.crypto, proposal);
  const votes = votesOn(world.ghost, id);
  world.marks.add("asked for what had expired undecided");
  for (let turn = 0; ; turn++) {
    const peer = world.peer((turn % world.plan.peers) + 1);
    const outcome = attempt(peer, asked);
    if (typeof outcome !== "string" && !isAboutCluster(outcome)) return;
    if (world.now >= until)
      throw new Violation(
        "L9",
        `proposal ${id} of ${world.product.changeOf(proposal).ref} expired at ${proposal.expiresAt} undecided, so that members agree on its end: ${votes}`,
        `long after healing the same request through peer ${peer.slot} still gives ${outcomeText(outcome)} (by now ${votesOn(world.ghost, id)})`,
      );
    world.run(world.now + SECOND);
  }
};

/** Asks for what is behind expired proposals, in a world that was healed just now. */
export const assertAnsweredBehindExpired = (world: World, attempt: Attempt): void => {
  // A driver waits in vain for proposals that a traitor has signed without it.
  if (world.ghost.lying !== 0) return;
  for (const proposal of expired(world)) {
    const asked = requestOf(world, proposal);
    if (asked !== undefined) assertAnswered(world, attempt, proposal, asked);
  }
};
