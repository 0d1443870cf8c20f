/** Bugs in how a peer measures bodies, and how it counts the bytes they take up. */
import { FINISH_PATH } from "../../core/commands/enrollPasskey/Finish.ts";
import type { Round } from "../../core/protocol/Undecided.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { Call } from "../../core/protocol/Forward.ts";
import { LONGEST_BODY } from "../requests/Commands.ts";
import type { PlantedBug } from "./PlantedBug.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import type { Asking, TamperedWorld, Tampering } from "../world/Tampering.ts";

const withBody = (request: Asking, rawBody: Call["rawBody"]): Asking => ({
  ...request,
  call: { ...request.call, rawBody },
});

/** A receiver counts a response in a body of exactly the greatest length as one byte longer. */
const overcount = (request: Asking): Asking => {
  const { path, rawBody } = request.call;
  if (path !== FINISH_PATH || rawBody.length !== LONGEST_BODY) return request;
  const longer = new Uint8Array(LONGEST_BODY + 1).fill(0x20);
  longer.set(rawBody);
  return withBody(request, longer);
};

/** A body that is too long is cut off at the greatest length. */
const cut = (request: Asking): Asking => withBody(request, request.call.rawBody.subarray(0, LONGEST_BODY));

/** Room for a body that was in a round is never given back. */
const keepRoom = (): Tampering => {
  const leaked = new Map<string, Map<string, Round>>();
  return {
    stepped: (_world: TamperedWorld, { slot, process }: SimPeer, { undecided: { rounds } }: PeerState) => {
      if (!(rounds instanceof Map)) return;
      const name = `${slot} ${process}`;
      const kept = leaked.get(name) ?? new Map<string, Round>();
      leaked.set(name, kept);
      for (const [id, round] of rounds)
        if (round.evidence !== undefined) kept.set(`room of ${id}`, { ...round, creator: undefined, coalesced: [] });
      for (const [id, round] of kept) rounds.set(id, round);
    },
  };
};

export const bodyBugs: ReadonlyArray<PlantedBug> = [
  {
    name: "longest-is-too-long",
    changes: "a response in a body as long as one may be is refused for its length",
    finds: "S30",
    schedule: "heavy-bodies",
    tampering: () => ({ asked: (_peer, request) => overcount(request) }),
  },
  {
    name: "any-length",
    changes: "a body that is longer than any may be is taken",
    finds: "S30",
    schedule: "heavy-bodies",
    tampering: () => ({ asked: (_peer, request) => cut(request) }),
  },
  {
    name: "room-never-back",
    changes: "the writer goes on counting the bytes of a body whose request is answered",
    finds: "L4",
    schedule: "heavy-bodies",
    tampering: keepRoom,
  },
];
