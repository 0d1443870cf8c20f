/** Bugs in what becomes of callers: of coalesced ones, and of those whose own request meets damage. */
import { registerKey } from "../../core/commands/registerKey/RegisterKey.ts";
import { effectsIn } from "../models/Effects.ts";
import type { Awaited, Queued } from "../../core/protocol/Requests.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import { refusalRejection } from "../../core/protocol/Refusals.ts";
import type { PlantedBug } from "./PlantedBug.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import type { TamperedWorld } from "../world/Tampering.ts";

/** The coalesced callers of a round are forgotten. */
const dropCoalesced = ({ undecided: { rounds } }: PeerState): void => {
  if (!(rounds instanceof Map)) return;
  for (const [id, round] of rounds) if (round.coalesced.length > 0) rounds.set(id, { ...round, coalesced: [] });
};

/** How much too early a forwarded request counts as arrived. */
const EARLIER_MILLIS = 4_000;

const arriveEarlier = (): ((state: PeerState) => void) => {
  const known = new WeakSet<Awaited>();
  return ({ requests: { awaited } }) => {
    if (!(awaited instanceof Map)) return;
    for (const [id, each] of awaited as Map<string, Awaited>) {
      if (known.has(each)) continue;
      const early = { ...each, arrivedAt: each.arrivedAt - EARLIER_MILLIS };
      known.add(early);
      awaited.set(id, early);
    }
  };
};

/** How much too late a coalesced request counts as arrived: so much that its caller has not given up yet. */
const LATER_MILLIS = 1_500;

/** A coalesced request counts as arrived when it joined the round, and waits that much longer. */
const startOver = (): ((state: PeerState) => void) => {
  const known = new WeakSet<Queued>();
  return ({ undecided: { rounds } }) => {
    if (!(rounds instanceof Map)) return;
    for (const [id, round] of rounds) {
      if (round.coalesced.every((pending: Queued) => known.has(pending))) continue;
      const coalesced = round.coalesced.map((pending: Queued) => {
        const late = known.has(pending) ? pending : { ...pending, arrivedAt: pending.arrivedAt + LATER_MILLIS };
        known.add(late);
        return late;
      });
      rounds.set(id, { ...round, coalesced });
    }
  };
};

/** Requests coalesced into a round that is to be aborted queue twice afterwards. */
const queueTwice = ({ undecided: { rounds } }: PeerState): void => {
  if (!(rounds instanceof Map)) return;
  for (const [id, round] of rounds) {
    const { refusal, coalesced } = round;
    if (refusal === undefined || new Set(coalesced).size < coalesced.length) continue;
    rounds.set(id, { ...round, coalesced: [...coalesced, ...coalesced] });
  }
};

/** A request coalesced through another peer gets the refusal that ends the round, and is not judged again. */
const blameCoalesced = (world: TamperedWorld, peer: SimPeer, state: PeerState): void => {
  const {
    undecided: { rounds },
  } = state;
  if (!(rounds instanceof Map)) return;
  for (const [id, round] of state.undecided.rounds) {
    const { refusal, coalesced } = round;
    if (refusal === undefined || coalesced.length === 0) continue;
    const { header, statement } = refusal;
    const proposal = state.undecided.preparations.get(id)?.proposal;
    const ref = proposal && effectsIn(proposal).ref;
    const { speaking } = registerKey;
    const rejection = refusalRejection(header.peerId, statement.detail, ref, speaking);
    const outcome = { _tag: "Rejected" as const, rejection };
    const ofOthers = coalesced.filter(({ forward }) => forward.entryPeer !== peer.slot);
    for (const { forward } of ofOthers)
      world.mail.utter(peer, forward.entryPeer, { _tag: "Outcome", requestId: forward.requestId, outcome });
    rounds.set(id, { ...round, coalesced: coalesced.filter((pending) => !ofOthers.includes(pending)) });
  }
};

/** The request without the field that tells a driver that a caller waits for its answer. */
const asOfNobody = <A extends object>(request: A): A =>
  new Proxy(request, { has: (target, name) => name !== "requestId" && Reflect.has(target, name) });

/** All actors count as one where places are shared. */
const countAllAsOne = (state: PeerState): void => {
  const one = "everybody";
  const entering = state.requests.entering.map((each) => ({ ...each, actor: one }));
  const awaited = new Map([...state.requests.awaited].map(([id, each]) => [id, { ...each, actor: one }]));
  Object.assign(state, { requests: { ...state.requests, entering, awaited } });
};

/** The writer forgets which requests in its queue it knew to be first copies. */
const judgeLate = (state: PeerState): void => {
  const queue = state.requests.queue.map((queued) => ({ ...queued, isFirst: false }));
  Object.assign(state, { requests: { ...state.requests, queue } });
};

/** No request counts as forwarded after another. */
const forwardOn = ({ requests: { awaited, forwarded } }: PeerState): void => {
  if (!(awaited instanceof Map)) return;
  for (const [requestId, each] of awaited) awaited.set(requestId, { ...each, serial: forwarded });
};

export const callerBugs: ReadonlyArray<PlantedBug> = [
  {
    name: "newest-of-anybody",
    changes: "who comes when all places are taken has the newest of anybody turned away, however few that one holds",
    finds: "S37",
    schedule: "crowd",
    steps: 3_000,
    tampering: () => ({ stepped: (_world, _peer, state) => countAllAsOne(state) }),
  },
  {
    name: "judged-late",
    changes: "the writer judges whether a request may be a duplicate when its turn comes, not when it came",
    finds: "S37",
    schedule: "refused-behind-waiting",
    steps: 4_000,
    tampering: () => ({ stepped: (_world, _peer, state) => judgeLate(state) }),
  },
  {
    name: "far-ahead",
    changes:
      "an entry peer forwards more behind a request that the writer has not acknowledged than the writer remembers",
    finds: "S37",
    schedule: "refused-behind-waiting",
    steps: 4_000,
    tampering: () => ({ stepped: (_world, _peer, state) => forwardOn(state) }),
  },
  {
    name: "coalesced-dropped",
    changes: "a request that has joined another one is never answered",
    finds: "L10",
    schedule: "retry-storm-refused",
    steps: 3_000,
    tampering: () => ({ stepped: (_world, _peer, state) => dropCoalesced(state) }),
  },
  {
    name: "coalesced-starts-over",
    changes: "a request that has joined another one is given a second and a half more than it has",
    finds: "L10",
    schedule: "retry-storm-unacknowledged",
    steps: 3_000,
    tampering: () => {
      const tamper = startOver();
      return { stepped: (_world, _peer, state) => tamper(state) };
    },
  },
  {
    name: "gives-up-early",
    changes: "a forwarded request counts as four seconds older than it is",
    finds: "L10",
    schedule: "two-initiators",
    tampering: () => {
      const tamper = arriveEarlier();
      return { stepped: (_world, _peer, state) => tamper(state) };
    },
  },
  {
    name: "coalesced-queued-twice",
    changes: "a request that had joined a refused one is queued twice, and answered for each",
    finds: "L10",
    schedule: "retry-storm-refused",
    steps: 3_000,
    tampering: () => ({ stepped: (_world, _peer, state) => queueTwice(state) }),
  },
  {
    name: "coalesced-blamed",
    changes: "a request that had joined a refused one is answered with that refusal, whatever it carries itself",
    finds: "S30",
    schedule: "retry-storm-refused",
    steps: 3_000,
    tampering: () => ({ stepped: blameCoalesced }),
  },
  {
    name: "lost-to-damage",
    changes: "a request whose first step meets a damaged row is lost with that step, and never answered",
    finds: "L10",
    schedule: "damage-under-finish",
    steps: 3_000,
    tampering: () => ({ asked: (_peer, request) => asOfNobody(request) }),
  },
  {
    name: "waits-for-silence",
    changes: "a writer that says nothing is taken for a busy one for as long as a caller can wait",
    finds: "S58",
    schedule: "swarm",
    tampering: () => ({
      stepped: (_world, _peer, { probing }) => void Object.assign(probing, { writerHeardAt: Number.POSITIVE_INFINITY }),
    }),
  },
  {
    name: "doubts-every-no",
    changes: "a caller that the writer turns away for certain is told that nobody knows",
    finds: "S58",
    schedule: "few-refusals-remembered",
    tampering: () => ({
      answered: ({ healed }, answer) =>
        answer._tag === "Rejected" && !healed
          ? { ...answer, rejection: { ...answer.rejection, outcomeUnknown: true } }
          : answer,
    }),
  },
  {
    name: "denials-forgotten",
    changes: "a peer forgets at once whom it has told that nothing was done, and has room for any number",
    finds: "S58",
    schedule: "few-refusals-remembered",
    tampering: () => ({
      stepped: (_world, _peer, { requests: { denied } }) => {
        if (denied instanceof Map) denied.clear();
      },
    }),
  },
];
