/**
 * What a coordinator can say wrongly: everything that it has asked members or told them, with one field changed to what
 * it knows from elsewhere or to what nobody said, and all of it once more.
 */
import type { Digest } from "../../core/base/Digest.ts";
import type { SignMessage, SignMessageOf } from "../../core/commands/signWithKey/SignMessages.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Flying } from "./Member.ts";
import type { Lie } from "./Moves.ts";
import type { Spoken } from "./Spoken.ts";

type Open = SignMessageOf<"Sign.Open">;
type Package = SignMessageOf<"Sign.Package">["items"][number];
type Commitments = Package["commitments"][number];

/** A message with its fault in words. */
type Faulty<A> = readonly [fault: string, said: A];

/** What the liar has heard of sessions, by its own and others' words. */
interface Heard {
  readonly opens: ReadonlyArray<Open>;
  readonly sessionIds: ReadonlyArray<Digest>;
  readonly commitments: ReadonlyArray<Commitments>;
  readonly digests: ReadonlyArray<Digest>;
}

/** A nonce of an operation that nobody has. */
const FOREIGN_NONCE = "f".repeat(64);
const FOREIGN = "f".repeat(64) as Digest;

const different = <A>(all: ReadonlyArray<A>, than: A): ReadonlyArray<A> =>
  [...new Set(all)].filter((each) => each !== than);

const heardIn = ({ sent, arrived }: Spoken, liar: PeerId): Heard => {
  const opens: Array<Open> = [];
  const packages: Array<Package> = [];
  const commitments: Array<Commitments> = [];
  for (const { message, from, to } of [...sent, ...arrived]) {
    if (from !== liar && to !== liar) continue;
    if (message._tag === "Sign.Open") opens.push(message);
    if (message._tag === "Sign.Package") packages.push(...message.items);
    if (message._tag === "Sign.Commit") commitments.push(message.commitments);
  }
  return {
    opens,
    sessionIds: opens.map(({ sessionId }) => sessionId),
    commitments: [...commitments, ...packages.flatMap((each) => each.commitments)],
    digests: packages.map(({ messageDigest }) => messageDigest),
  };
};

const otherOpens = (open: Open, { opens, sessionIds }: Heard): ReadonlyArray<Faulty<Open>> => {
  const { evidence } = open;
  const others = different(
    opens.map((each) => each.evidence),
    evidence,
  );
  return [
    ["again", open],
    ...different(sessionIds, open.sessionId).map(
      (sessionId): Faulty<Open> => ["under the name of another session", { ...open, sessionId }],
    ),
    ...others.flatMap(
      (other): ReadonlyArray<Faulty<Open>> => [
        ["for another caller's request", { ...open, evidence: other }],
        ["with another caller's message", { ...open, evidence: { ...evidence, rawBody: other.rawBody } }],
        ["with another caller's token", { ...open, evidence: { ...evidence, token: other.token } }],
      ],
    ),
    ["of the generation after", { ...open, generation: open.generation + 1 }],
    ["of the generation before", { ...open, generation: open.generation - 1 }],
    ["with another nonce", { ...open, nonce: FOREIGN_NONCE }],
    ["of a later time", { ...open, timestamp: open.timestamp + 1 }],
    ["with an earlier deadline", { ...open, expiresAt: open.expiresAt - 1 }],
    ["with a later deadline", { ...open, expiresAt: open.expiresAt + 1 }],
  ];
};

const isSame = (one: Commitments, other: Commitments): boolean =>
  one.index === other.index && one.hiding === other.hiding && one.binding === other.binding;

/** Lists of signers with one of them changed. */
const otherLists = (list: Package["commitments"], known: Heard["commitments"]): ReadonlyArray<Faulty<typeof list>> => {
  const foreign = known.filter(
    (each, index) =>
      !list.some((own) => isSame(own, each)) && known.findIndex((other) => isSame(other, each)) === index,
  );
  return [
    ...list.flatMap(
      (own, at): ReadonlyArray<Faulty<typeof list>> => [
        [`without member ${own.index}`, list.toSpliced(at, 1)],
        [`with member ${own.index} twice`, [...list, own]],
        [`with swapped nonces of ${own.index}`, list.with(at, { ...own, hiding: own.binding, binding: own.hiding })],
        ...foreign.map(
          (other): Faulty<typeof list> => [
            `with ${other.index} of another session for ${own.index}`,
            list.with(at, other),
          ],
        ),
      ],
    ),
    ...foreign.map((other): Faulty<typeof list> => [`with ${other.index} of another session, too`, [...list, other]]),
  ];
};

const otherPackages = (said: Package, heard: Heard): ReadonlyArray<Faulty<Package>> => [
  ["again", said],
  ...different(heard.sessionIds, said.sessionId).map(
    (sessionId): Faulty<Package> => ["under the name of another session", { ...said, sessionId }],
  ),
  ...different([...heard.digests, FOREIGN], said.messageDigest).map(
    (messageDigest): Faulty<Package> => ["of another message", { ...said, messageDigest }],
  ),
  ...otherLists(said.commitments, heard.commitments).map(
    ([fault, commitments]): Faulty<Package> => [fault, { ...said, commitments }],
  ),
];

const faultyOf = (message: Flying["message"], heard: Heard): ReadonlyArray<Faulty<SignMessage>> => {
  if (message._tag === "Sign.Open") return otherOpens(message, heard);
  if (message._tag !== "Sign.Package") return [];
  return message.items.flatMap((item) =>
    otherPackages(item, heard).map(([fault, said]): Faulty<SignMessage> => [fault, { ...message, items: [said] }]),
  );
};

/** Every lie of this member that what was said so far gives it, to every other member. */
export const liesOf = (liar: PeerId, others: ReadonlyArray<PeerId>, spoken: Spoken): ReadonlyArray<Lie> => {
  const heard = heardIn(spoken, liar);
  return spoken.sent
    .filter(({ from }) => from === liar)
    .flatMap(({ message }) => faultyOf(message, heard))
    .flatMap(([fault, message]) => others.map((to): Lie => ({ from: liar, to, message, name: fault })));
};
