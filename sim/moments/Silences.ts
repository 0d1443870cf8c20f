/** Links that go down, and members that fall silent, when something was just said. */
import { Limits } from "../../core/Limits.ts";
import { ACKNOWLEDGEMENTS, silence } from "../faults/SilentMember.ts";
import type { Nemesis } from "../World.ts";
import { forSomeSeconds, isolate, isWriter, rarely, SECOND, struck } from "./Moment.ts";

/** Longer than any run. */
const LONGEST_SILENCE = 3_600 * SECOND;

/** The writer's Prepare reaches everybody, and then nothing of the writer does. */
export const isolateWriterAfterPrepare = (): Nemesis => {
  const now = rarely(6 * SECOND);
  return {
    sent: (world, peer, to, message) => {
      const last = Math.max(...(peer.state?.membership?.peerIds ?? [0]));
      if (message._tag !== "Prepare" || to !== last) return;
      now(world, (unit) => world.after(1, () => isolate(world, peer.slot, forSomeSeconds(unit))));
    },
  };
};

/** One member has prepared and can tell nobody. */
export const isolateOnePreparer = (): Nemesis => {
  const now = rarely(6 * SECOND);
  return {
    flushed: (world, peer, writes) => {
      if (isWriter(peer) || !writes.some((each) => each.table === "preparations" && each.op === "insert")) return;
      now(world, (unit) => isolate(world, peer.slot, forSomeSeconds(unit)));
    },
  };
};

/** From the first preparation or session on the last member takes part and says nothing of it, until everything is healed. */
export const silenceOne = (): Nemesis => {
  let isSilent = false;
  return {
    flushed: (world, _peer, writes) => {
      if (isSilent || !writes.some(({ table }) => table === "preparations" || table === "sessions")) return;
      if (struck(world, world.choices.stream("moment").next(), "silent member") === undefined) return;
      isSilent = true;
      silence(world, world.peer(world.plan.peers), LONGEST_SILENCE);
    },
  };
};

/** The last member votes and applies, and until everything is healed nobody hears that it has applied anything. */
export const withholdAcknowledgements = (): Nemesis => ({
  started: (world) => {
    if (struck(world, world.choices.stream("moment").next(), "silent member") === undefined) return;
    silence(world, world.peer(world.plan.peers), LONGEST_SILENCE, ACKNOWLEDGEMENTS);
  },
  sent: (world, { state }) => {
    if (state !== undefined && state.outbox.size - state.prunable >= Limits.unacknowledged)
      world.marks.add("as much waits for acknowledgements as may");
  },
});

/** A member that is asked to prepare has not heard of the keys yet that tokens are signed with: it refuses them for a while. */
export const disbelieveTokens = (): Nemesis => {
  const now = rarely(SECOND / 4);
  return {
    sent: (world, _peer, to, message) => {
      if (message._tag !== "Prepare") return;
      now(world, (unit) => {
        world.tokenKeys.unknown.add(to);
        world.after(unit.between("for", 20_000, 1_000, 300_000), () => world.tokenKeys.unknown.delete(to));
      });
    },
  };
};
