/** Makes one member a traitor from the beginning, by the name of what it does. */
import { absurd } from "effect";
import type { Nemesis, World } from "../world/World.ts";
import { equivocatingRefuser } from "./EquivocatingRefuser.ts";
import { endlessWriter } from "./EndlessWriter.ts";
import { equivocatingWriter } from "./EquivocatingWriter.ts";
import { lyingWriter } from "./LyingWriter.ts";
import { falsifyingWriter, hastyAnswers } from "./FalsifyingWriter.ts";
import { forgetfulKeeper } from "./ForgetfulKeeper.ts";
import { hoardingSigner } from "./HoardingSigner.ts";
import { lyingHelper } from "./LyingHelper.ts";
import { equivocatingMaker, spoilingMaker } from "./LyingMaker.ts";
import { confusingCoordinator, lyingCoordinator, lyingSigner } from "./LyingSigner.ts";
import { lyingSessionWriter } from "./LyingSessionWriter.ts";
import { lyingSource } from "./LyingSource.ts";
import { lyingTarget } from "./LyingTarget.ts";
import { looseTongue } from "./LooseTongue.ts";
import { omittingSource } from "./OmittingSource.ts";
import { type Lie, type Mishear, Traitor } from "./Traitor.ts";
import { twofoldMaker } from "./TwofoldMaker.ts";

const truth: Lie = (_traitor, _to, message) => [message];

type Who = "the writer" | "anybody" | "the source" | "a target";

interface Treason {
  readonly ways: () => { readonly lie: Lie; readonly mishear?: Mishear };
  readonly who: Who;
  /** Whether it may take any token for one that permits everything. */
  readonly isCredulous?: boolean;
}

const lies = {
  "equivocating writer": { ways: () => ({ lie: equivocatingWriter() }), who: "the writer" },
  "lying writer": { ways: () => ({ lie: lyingWriter() }), who: "the writer" },
  "endless writer": { ways: () => ({ lie: endlessWriter() }), who: "the writer" },
  "equivocating refuser": { ways: () => ({ lie: equivocatingRefuser() }), who: "anybody" },
  "lying session writer": { ways: () => ({ lie: lyingSessionWriter() }), who: "the writer" },
  "falsifying writer": { ways: () => ({ lie: falsifyingWriter(), mishear: hastyAnswers() }), who: "the writer" },
  "forgetful keeper": { ways: () => ({ lie: truth, mishear: forgetfulKeeper() }), who: "anybody" },
  "lying signer": { ways: () => ({ lie: lyingSigner() }), who: "anybody" },
  "hoarding signer": { ways: hoardingSigner, who: "anybody" },
  "lying coordinator": { ways: () => ({ lie: lyingCoordinator() }), who: "anybody" },
  "confusing coordinator": { ways: () => ({ lie: confusingCoordinator() }), who: "anybody" },
  "lying helper": { ways: () => ({ lie: lyingHelper() }), who: "anybody" },
  "spoiling maker": { ways: () => ({ lie: spoilingMaker() }), who: "anybody" },
  "equivocating maker": { ways: () => ({ lie: equivocatingMaker() }), who: "anybody" },
  "twofold maker": { ways: twofoldMaker, who: "the writer" },
  "lying source": { ways: lyingSource, who: "the source" },
  "lying target": { ways: lyingTarget, who: "a target" },
  "omitting source": { ways: () => ({ lie: omittingSource() }), who: "anybody" },
  "loose tongue": { ways: looseTongue, who: "anybody", isCredulous: true },
} as const satisfies { readonly [name: string]: Treason };

export type TreasonName = keyof typeof lies;
/** Those that lie about one thing; a loose tongue may lie about any. */
export const treasonNames: readonly [TreasonName, ...ReadonlyArray<TreasonName>] = [
  "equivocating writer",
  "lying writer",
  "equivocating refuser",
  "lying session writer",
  "falsifying writer",
  "forgetful keeper",
];

/** The lowest peer id is the writer. */
const WRITER = 1;

/** The slot of whoever does such a thing, where nobody says. */
const slotOf = ({ choices, plan: { peers, promotion } }: World, who: Who): number => {
  const any = choices.plan("traitor").between("peer", peers, 1, peers);
  switch (who) {
    case "the writer":
      return WRITER;
    case "anybody":
      return any;
    case "the source":
      return promotion?.source ?? any;
    case "a target":
      return any === promotion?.source ? (any % peers) + 1 : any;
    default:
      return absurd(who);
  }
};

/** @param slot which peer; undefined leaves it to the kind */
export const betray = (name: TreasonName, slot?: number): Nemesis => ({
  started: (world: World) => {
    // No other peer to lie to.
    if (world.plan.peers === 1) return;
    const { ways, who, isCredulous = false }: Treason = lies[name];
    const drawn = slotOf(world, who);
    const peer = world.peer(slot ?? drawn);
    world.faults.add(name);
    peer.treason = name;
    const { lie, mishear } = ways();
    world.mail.speakThrough(peer, new Traitor(world, peer, lie, mishear));
    if (isCredulous && world.choices.plan("credulous").chance("believes every token", 500))
      world.tokenKeys.credulous.add(peer.slot);
  },
});
