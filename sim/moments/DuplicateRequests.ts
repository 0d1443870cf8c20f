/** Copies of requests that come when their refusal is no longer known (decision 0009). */
import type { Message, MessageOf } from "../../core/Message.ts";
import type { Unit } from "../base/Choices.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import type { Nemesis, World } from "../world/World.ts";
import type { SentPacket } from "../world/Mail.ts";
import { rarely, SECOND } from "./Moment.ts";

/** Whether a message tells an entry peer that a request was refused for the state of the cluster, for certain. */
const isCertainNo = (message: Message): message is MessageOf<"Outcome"> =>
  message._tag === "Outcome" &&
  message.outcome._tag === "Rejected" &&
  message.outcome.rejection.code === "APPROVER_REPLICATION_UNAVAILABLE" &&
  !message.outcome.rejection.outcomeUnknown;

/**
 * The packet in which a peer forwarded a replacement lately. No read shows a registration that was turned away; the
 * revision that a replacement makes is shown by every read of its approver.
 */
const forwardedReplacement = ({ mail }: World, from: number, requestId: string): SentPacket | undefined =>
  mail.recent.findLast(
    (each) =>
      each.from.slot === from &&
      each.message._tag === "Forward" &&
      each.message.forward.requestId === requestId &&
      each.message.forward.call.method === "PUT",
  );

/** One more copy of a packet arrives where the first one went. */
const sendAgain = (world: World, unit: Unit, { from, to, packet, message }: SentPacket): void =>
  world.mail.transmit(to, packet, unit.between("the copy arrives after", 1_000, 1, 20_000), {
    from: from.slot,
    message,
    how: "replayed",
  });

/**
 * The writer turns a forwarded replacement away for certain, says so, and crashes. One more copy of the request was
 * still on its way: it arrives as soon as the next process prepares something, so before another request has replaced
 * that revision, and when nothing but the age of the copy speaks against it (decision 0009).
 */
export const copyAfterRestart = (): Nemesis => {
  const now = rarely(SECOND);
  let late: { readonly sent: SentPacket; readonly process: number; readonly unit: Unit } | undefined;

  const arrive = (world: World): void => {
    if (late === undefined) return;
    const { sent, unit } = late;
    late = undefined;
    world.marks.add("a copy of a refused request came to the writer's next process");
    sendAgain(world, unit, sent);
  };

  return {
    sent: (world, peer, to, message) => {
      if (late !== undefined) {
        if (message._tag === "Prepare" && peer.process !== late.process) arrive(world);
        return;
      }
      if (!isCertainNo(message)) return;
      const sent = forwardedReplacement(world, to, message.requestId);
      if (sent === undefined) return;
      now(world, (unit) => {
        late = { sent, process: peer.process, unit };
        world.after(unit.between("after", 1, 1, 1_000), () => world.processes.crash(peer, "process"));
      });
    },
  };
};

/** Keeps a peer sealed as long as it is asked to, whoever unseals it meanwhile. */
const keepSealed = (world: World, peer: SimPeer, isAskedFor: () => boolean): void => {
  if (world.healed) return;
  if (!isAskedFor()) return world.operators.unseal(peer);
  world.operators.seal(peer);
  world.after(SECOND / 20, () => keepSealed(world, peer, isAskedFor));
};

/**
 * A member is sealed, and the writer turns a forwarded replacement away for certain, and then so many other requests
 * that it remembers it no longer. One more copy of it arrives as soon as something is prepared again (decision 0009).
 */
export const copyAfterStorm = (): Nemesis => {
  const now = rarely(6 * SECOND);
  let sealedUntil = 0;
  let late:
    | { readonly sent: SentPacket; readonly entryPeer: number; readonly requestId: string; readonly unit: Unit }
    | undefined;

  const isRemembered = (writer: SimPeer): boolean =>
    late !== undefined && writer.state?.requests.turnedAway.get(late.entryPeer)?.has(late.requestId) === true;

  const arrive = (world: World): void => {
    if (late === undefined) return;
    const { sent, unit } = late;
    late = undefined;
    world.marks.add("a copy came of a request whose refusal the writer had forgotten");
    sendAgain(world, unit, sent);
  };

  return {
    sent: (world, peer, to, message) => {
      if (message._tag === "Prepare") {
        if (late !== undefined) return isRemembered(peer) ? undefined : arrive(world);
        // Before there is anything to replace, no replacement can be turned away.
        if (message.items.every(({ proposal }) => proposal.kind !== "METADATA")) return;
        return now(world, (unit) => {
          // Packets that were on their way already hold up the next round for a second.
          sealedUntil = world.now + 3 * SECOND;
          const sealed = world.peer(unit.between("sealed peer", world.plan.peers, 2, world.plan.peers));
          keepSealed(world, sealed, () => isRemembered(peer) || world.now < sealedUntil);
        });
      }
      if (late !== undefined || !isCertainNo(message)) return;
      const sent = forwardedReplacement(world, to, message.requestId);
      if (sent === undefined) return;
      late = {
        sent,
        entryPeer: to,
        requestId: message.requestId,
        unit: world.choices.stream("moment").next(),
      };
    },
  };
};
