/**
 * A small world of signatures: members that have made a key together, callers that sign a message each through a member
 * each, and, where lies are told, the last member as the one that tells them while it coordinates.
 */
import { utf8Bytes } from "../../core/codec/Utf8.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import { creation, signing } from "../requests/KeyRequests.ts";
import type { World } from "../world/World.ts";
import type { Claims } from "./Claims.ts";
import type { Budget, Scope } from "./Configuration.ts";
import { liesOf } from "./Lies.ts";
import type { Flying } from "./Member.ts";
import { calling, type Plot } from "./Moves.ts";
import { signingClaims, type Wanted } from "./SigningClaims.ts";
import type { Keeping } from "./Spoken.ts";

/** Virtual microseconds in which calm members have surely made a key. */
const LONG_ENOUGH = 30_000_000;
const TOKEN_MILLIS = 3_600_000;
const KEY = { keyId: "key-1", algorithm: "ED25519", scheme: "EdDSA" };

/** Has the key made. Throws a RangeError when it was not. */
const makeKey = (world: World): void => {
  const { commands, service } = world;
  const asked = creation(commands, KEY.keyId, { ...KEY, assetOwner: undefined });
  const { text } = commands.token("good", world.realMillis, TOKEN_MILLIS, asked.permission);
  service.request(world.peer(1), service.newRequestId(), asked, text);
  world.run(world.now + LONG_ENOUGH);
  for (const { slot, store } of world.peers)
    if (store.get("custodyKeys", KEY.keyId) === undefined) throw new RangeError(`peer ${slot} has no key`);
};

const toSign: ReadonlySet<string> = new Set(["Sign.Open", "Sign.Package"]);
const said: ReadonlySet<string> = new Set(["Sign.Commit", "Sign.Package", "Sign.Share"]);
/** What lies are made of. */
const heard: ReadonlySet<string> = new Set(["Sign.Open", "Sign.Commit", "Sign.Package"]);

/** Claims look back at what honest members said and were asked, lies at what the liar said and was told. */
const keepingOf =
  (liar: PeerId) =>
  ({ lies }: Budget): Keeping => ({
    sent: ({ from, message: { _tag } }: Flying) => (from === liar ? lies > 0 && toSign.has(_tag) : said.has(_tag)),
    arrived: ({ to, message: { _tag } }: Flying) => (to === liar ? lies > 0 && heard.has(_tag) : toSign.has(_tag)),
  });

export const signings = (
  world: World,
  { requests, budget, isFull = false }: Pick<Scope, "requests" | "budget" | "isFull">,
): { readonly plot: Plot; readonly claims: Claims } => {
  makeKey(world);
  const { commands, peers, realMillis } = world;
  const ids = peers.map(({ peerId }) => peerId);
  // Nobody lies in a world without lies: then this is nobody's id.
  const liar = budget.lies > 0 ? ids.length : 0;
  const asked = Array.from({ length: requests }, (_, index): Wanted => {
    const { keyId, scheme } = KEY;
    const data = utf8Bytes(`message ${index}`);
    return {
      signing: signing(commands, { keyId, scheme, hash: undefined, data, generation: undefined }),
      // The one that may lie first.
      through: ids.length - (index % ids.length),
    };
  });
  return {
    plot: {
      requests: asked.map(({ signing: { call, permission }, through }, index) => ({
        through,
        name: `a signature of message ${index}`,
        event: calling(commands, call, commands.token("good", realMillis, TOKEN_MILLIS, permission).text),
        isRepeated: false,
      })),
      lies: (spoken) =>
        liesOf(
          liar,
          ids.filter((each) => each !== liar),
          spoken,
        ),
      keeping: keepingOf(liar),
      isAside: ({ _tag }) => !isFull && !_tag.startsWith("Sign."),
      crashless: liar,
      isTimed: false,
    },
    claims: signingClaims({ world, liar, asked }),
  };
};
