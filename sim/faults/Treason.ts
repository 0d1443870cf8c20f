/** Makes one member a traitor from the beginning on, by the name of what it does. */
import type { Nemesis, World } from "../World.ts";
import { equivocatingRefuser } from "./EquivocatingRefuser.ts";
import { equivocatingWriter } from "./EquivocatingWriter.ts";
import { lyingWriter } from "./LyingWriter.ts";
import { type Lie, Traitor } from "./Traitor.ts";

const lies = {
  "equivocating writer": { lie: equivocatingWriter, isWriter: true },
  "lying writer": { lie: lyingWriter, isWriter: true },
  "equivocating refuser": { lie: equivocatingRefuser, isWriter: false },
} as const satisfies { readonly [name: string]: { readonly lie: () => Lie; readonly isWriter: boolean } };

export type TreasonName = keyof typeof lies;
export const treasonNames: readonly [TreasonName, ...ReadonlyArray<TreasonName>] = [
  "equivocating writer",
  "lying writer",
  "equivocating refuser",
];

/** The lowest peer id is the writer. */
const WRITER = 1;

/** @param slot which peer; undefined leaves it to the kind: the writer, or any */
export const betray = (name: TreasonName, slot?: number): Nemesis => ({
  started: (world: World) => {
    // Nobody to lie to.
    if (world.plan.peers === 1) return;
    const { lie, isWriter } = lies[name];
    const any = world.choices.plan("traitor").between("peer", world.plan.peers, 1, world.plan.peers);
    const peer = world.peer(slot ?? (isWriter ? WRITER : any));
    world.faults.add(name);
    world.speakThrough(peer, new Traitor(world, peer, lie()));
  },
});
