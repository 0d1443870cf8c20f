/** Makes one member a traitor from the beginning, by the name of what it does. */
import type { Nemesis, World } from "../world/World.ts";
import { equivocatingRefuser } from "./EquivocatingRefuser.ts";
import { equivocatingWriter } from "./EquivocatingWriter.ts";
import { lyingWriter } from "./LyingWriter.ts";
import { falsifyingWriter, hastyAnswers } from "./FalsifyingWriter.ts";
import { forgetfulKeeper } from "./ForgetfulKeeper.ts";
import { hoardingSigner } from "./HoardingSigner.ts";
import { lyingHelper } from "./LyingHelper.ts";
import { lyingCoordinator, lyingSigner, spoilingMaker } from "./LyingSigner.ts";
import { lyingSessionWriter } from "./LyingSessionWriter.ts";
import { looseTongue } from "./LooseTongue.ts";
import { type Lie, type Mishear, Traitor } from "./Traitor.ts";

const truth: Lie = (_traitor, _to, message) => [message];

interface Treason {
  readonly ways: () => { readonly lie: Lie; readonly mishear?: Mishear };
  readonly isWriter: boolean;
  /** Whether it may take any token for one that permits everything. */
  readonly isCredulous?: boolean;
}

const lies = {
  "equivocating writer": { ways: () => ({ lie: equivocatingWriter() }), isWriter: true },
  "lying writer": { ways: () => ({ lie: lyingWriter() }), isWriter: true },
  "equivocating refuser": { ways: () => ({ lie: equivocatingRefuser() }), isWriter: false },
  "lying session writer": { ways: () => ({ lie: lyingSessionWriter() }), isWriter: true },
  "falsifying writer": { ways: () => ({ lie: falsifyingWriter(), mishear: hastyAnswers() }), isWriter: true },
  "forgetful keeper": { ways: () => ({ lie: truth, mishear: forgetfulKeeper() }), isWriter: false },
  "lying signer": { ways: () => ({ lie: lyingSigner() }), isWriter: false },
  "hoarding signer": { ways: hoardingSigner, isWriter: false },
  "lying coordinator": { ways: () => ({ lie: lyingCoordinator() }), isWriter: false },
  "lying helper": { ways: () => ({ lie: lyingHelper() }), isWriter: false },
  "spoiling maker": { ways: () => ({ lie: spoilingMaker() }), isWriter: false },
  "loose tongue": { ways: looseTongue, isWriter: false, isCredulous: true },
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

/** @param slot which peer; undefined leaves it to the kind: the writer, or any */
export const betray = (name: TreasonName, slot?: number): Nemesis => ({
  started: (world: World) => {
    // No other peer to lie to.
    if (world.plan.peers === 1) return;
    const { ways, isWriter, isCredulous = false }: Treason = lies[name];
    const any = world.choices.plan("traitor").between("peer", world.plan.peers, 1, world.plan.peers);
    const peer = world.peer(slot ?? (isWriter ? WRITER : any));
    world.faults.add(name);
    peer.treason = name;
    const { lie, mishear } = ways();
    world.mail.speakThrough(peer, new Traitor(world, peer, lie, mishear));
    if (isCredulous && world.choices.plan("credulous").chance("believes every token", 500))
      world.tokenKeys.credulous.add(peer.slot);
  },
});
