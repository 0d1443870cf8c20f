/** What strikes keys while members are in the middle of using them: seals, changes of the key, repairs that a liar helps. */
import { allRows } from "../../core/protocol/AllRows.ts";
import type { Write } from "../../core/Tables.ts";
import { signingIn } from "../../core/commands/signWithKey/SigningState.ts";
import type { Unit } from "../base/Choices.ts";
import { maskOf } from "../checkers/PeerMask.ts";
import type { Asked } from "../requests/Asked.ts";
import { ending, renewal, repairing } from "../requests/KeyRequests.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import type { Nemesis, World } from "../world/World.ts";
import { rarely, SECOND } from "./Moment.ts";

const TOKEN_MILLIS = 60_000;

/** A request of nobody in particular, whose answer nobody waits for. */
export const ask = (world: World, peer: SimPeer, asked: Asked): void => {
  const token = world.commands.token("good", world.realMillis, TOKEN_MILLIS, asked.permission);
  world.service.request(peer, world.service.newRequestId(), asked, token.text);
};

/** A signer is sealed when it has committed to a nonce, and unsealed soon after. */
export const sealMidSession = (): Nemesis => {
  const now = rarely(SECOND);
  return {
    sent: (world, peer, _to, message) => {
      if (message._tag !== "Sign.Commit") return;
      now(world, (unit) => {
        world.marks.add("a signer was sealed with a nonce in memory");
        world.after(unit.between("after", 0, 0, 2_000), () => world.operators.seal(peer));
        world.after(unit.between("unsealed after", 100_000, 10_000, SECOND), () => world.operators.unseal(peer));
      });
    },
  };
};

export type ChangeUnderSigning = "rotate" | "refresh" | "destroy";

/** Whether a peer has just come to another generation of a key than a session of its is open for. */
const isOvertaken = (peer: SimPeer, writes: ReadonlyArray<Write>): boolean => {
  const sessions = peer.state === undefined ? [] : [...signingIn(peer.state).sessions.values()];
  return writes.some(
    (write) =>
      write.table === "custodyKeys" &&
      write.op !== "remove" &&
      sessions.some(
        ({ request, generation }) =>
          request.keyId === write.key && (generation !== write.row.generation || write.row.status === "DESTROYED"),
      ),
  );
};

/** Whenever a member is asked to sign, somebody has the key renewed or destroyed through another one. */
export const changeUnderSigning = (act: ChangeUnderSigning): Nemesis => {
  const now = rarely(SECOND / 4);
  return {
    sent: (world, _peer, to, message) => {
      if (message._tag !== "Sign.Open") return;
      const keyId = message.evidence.path.split("/").at(-2) ?? "";
      const { generation: base } = message;
      now(world, (unit) => {
        const through = world.peer(unit.between("through", to, 1, world.plan.peers));
        const asked: Asked =
          act === "destroy"
            ? ending(world.commands, { keyId, base, generation: base, isFinal: true })
            : renewal(world.commands, act, { keyId, base, assetOwner: undefined });
        ask(world, through, asked);
      });
    },
    flushed: (world, peer, writes) => {
      if (isOvertaken(peer, writes)) world.marks.add("a session was open when its key was changed");
    },
  };
};

const WIDTH = 16;

/** A generation that others hold and a peer has lost its share of. */
export const lackingAt = (peer: SimPeer): string | undefined =>
  allRows(peer.store, "generations").find(
    ({ state, keyId, generation }) =>
      state === "ACTIVE" &&
      peer.store.get("shares", `${keyId}/${String(generation).padStart(WIDTH, "0")}`) === undefined,
  )?.keyId;

/** The helpers that an operator names, of all other peers. */
type Helpers = (unit: Unit, others: ReadonlyArray<SimPeer>, threshold: number) => ReadonlyArray<SimPeer>;

/** With a liar among them where there is one. */
const liarsFirst: Helpers = (unit, others, threshold) => {
  const liars = others.filter((each) => each.isLying);
  const honest = others.filter((each) => !each.isLying);
  const isTrusted = unit.chance("honest helpers alone", 250);
  return (isTrusted ? honest : [...liars, ...honest]).slice(0, threshold);
};

/** Any of them, in any order. */
export const anybody: Helpers = (unit, others, threshold) => {
  const left = [...others];
  return Array.from({ length: Math.min(threshold, others.length) }, () =>
    left.splice(unit.between("helper", 0, 0, left.length - 1, 0, others.length), 1),
  ).flat();
};

export const isRestored = ({ ghost }: World, { slot }: SimPeer): boolean => (ghost.restored & maskOf(slot)) !== 0;

/** Whenever a peer has lost a share, its operator has it repaired. */
const repairWith = (helpersOf: Helpers): Nemesis => {
  const now = rarely(SECOND / 10);
  /** By peer and key: the helpers that were asked last. */
  const asked = new Map<string, string>();
  return {
    flushed: (world, flushing, writes) => {
      if (world.healed || world.ghost.restored === 0) return;
      // Best while another member has something undecided that this one has not heard of yet.
      const isReserving = writes.some(({ table, op }) => table === "preparations" && op === "insert");
      const peer = isReserving ? world.peers.find((each) => each !== flushing && isRestored(world, each)) : flushing;
      if (peer === undefined || !isRestored(world, peer)) return;
      if (peer.isLying || peer.isDamaged || peer.state?.fitness.unsealed !== true) return;
      now(world, (unit) => {
        const keyId = lackingAt(peer);
        if (keyId === undefined) return;
        const others = world.peers.filter((each) => each !== peer);
        const { threshold = 2 } = world.ghost.membership?.topology ?? {};
        const helpers = helpersOf(unit, others, threshold).map(({ slot }) => slot);
        const [name, all] = [`${peer.slot} ${keyId}`, helpers.toSorted().join(" ")];
        world.marks.add("a repair was asked for");
        if ((asked.get(name) ?? all) !== all) world.marks.add("other helpers were asked for the same share");
        asked.set(name, all);
        ask(world, peer, repairing(world.commands, { keyId, helpers }));
      });
    },
  };
};

/** With a liar among the helpers where there is one. */
export const repairWhatIsLost = (): Nemesis => repairWith(liarsFirst);

/** With other helpers each time. */
export const repairWithOthers = (): Nemesis => repairWith(anybody);
