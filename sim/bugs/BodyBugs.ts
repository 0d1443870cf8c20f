/** Bugs in how a peer measures bodies, and how it counts the bytes they take up. */
import { utf8Bytes } from "../../core/codec/Utf8.ts";
import { FINISH_PATH } from "../../core/commands/enrollPasskey/Finish.ts";
import type { Round } from "../../core/protocol/Undecided.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { Call } from "../../core/protocol/Forward.ts";
import { LONGEST_BODY } from "../requests/Bodies.ts";
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

type Pairs = ReadonlyArray<readonly [name: string, value: unknown]>;

/** Other metadata in the place of some that a request of this kind came with. */
const reread = (methods: string, change: (pairs: Pairs) => Pairs | undefined) => (): Tampering => ({
  asked: (_peer, request) => {
    const { method, rawBody } = request.call;
    const text = new TextDecoder().decode(rawBody);
    if (!methods.includes(method) || !text.includes('"metadata":{"') || rawBody.length > LONGEST_BODY) return request;
    try {
      const body: { readonly metadata: object } = JSON.parse(text);
      const pairs = change(Object.entries(body.metadata));
      const other = pairs && JSON.stringify({ ...body, metadata: Object.fromEntries(pairs) });
      return other === undefined ? request : withBody(request, utf8Bytes(other));
    } catch {
      return request;
    }
  },
});

const MOST_PAIRS = 32;
const LONGEST_VALUE = 512;

const oneTooMany = (pairs: Pairs): Pairs | undefined =>
  pairs.length === MOST_PAIRS ? [...pairs, ["more", ""]] : undefined;

/** Values that are too long in bytes and not in characters are made short enough. */
const inCharacters = (pairs: Pairs): Pairs | undefined => {
  const isLong = (value: unknown): boolean =>
    typeof value === "string" && value.length <= LONGEST_VALUE && utf8Bytes(value).length > LONGEST_VALUE;
  return pairs.some(([, value]) => isLong(value)) ? [] : undefined;
};

const isSorted = (pairs: Pairs): boolean =>
  pairs.every(([name], index) => index === 0 || (pairs[index - 1]?.[0] ?? "") < name);

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
    steps: 500,
    tampering: () => ({ asked: (_peer, request) => cut(request) }),
  },
  {
    name: "fewer-pairs",
    changes: "metadata of as many pairs as there may be are refused",
    finds: "S30",
    schedule: "swarm",
    tampering: reread("POST PUT", oneTooMany),
  },
  {
    name: "counted-in-characters",
    changes: "a value counts as short enough if its characters are few enough",
    finds: "S30",
    schedule: "swarm",
    tampering: reread("POST PUT", inCharacters),
  },
  {
    name: "pairs-in-order",
    changes: "a replacement is refused unless its pairs come in the order in which they are stored",
    finds: "S30",
    schedule: "swarm",
    tampering: reread("PUT", (pairs) => (isSorted(pairs) ? undefined : [["", ""]])),
  },
  {
    name: "room-never-back",
    changes: "the writer goes on counting the bytes of a body whose request is answered",
    finds: "L4",
    schedule: "heavy-bodies",
    steps: 500,
    tampering: keepRoom,
  },
];
