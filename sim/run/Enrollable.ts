/** L4: once everything works, a passkey can be enrolled; what is wrong with a response is said, and is no end of it. */
import type { RejectionCode } from "../../core/base/Rejection.ts";
import { Violation } from "../base/Violation.ts";
import type { Asked } from "../requests/Asked.ts";
import type { Outcome } from "../requests/Outcome.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import type { World } from "../world/World.ts";

const SECOND = 1_000_000;
const PATIENCE = 60 * SECOND;
/** Beyond the numbers of keys and credentials that callers count up to. */
const KEY = 900_000;

/** Sends one request and lets the world run until something came of it. */
export type Attempt = (peer: SimPeer, asked: Asked) => Outcome;

const wordOf = (outcome: Outcome): string =>
  typeof outcome === "string" ? outcome : outcome._tag === "Rejected" ? outcome.rejection.code : outcome._tag;

const isRejected = (outcome: Outcome, code: RejectionCode): boolean =>
  typeof outcome !== "string" &&
  outcome._tag === "Rejected" &&
  outcome.rejection.code === code &&
  !outcome.rejection.outcomeUnknown;

/**
 * Asks for options through one peer, and answers them through another: wrongly, well, and well again. Whoever holds
 * most of the sessions there may be waits until they are over.
 *
 * @throws {Violation} L4 where one answer is not the one that is due
 */
export const assertEnrollable = (world: World, attempt: Attempt, peer: SimPeer, other: SimPeer): void => {
  const { enrollment } = world.commands;
  const insist = (through: SimPeer, what: string, asked: Asked, wanted: string) => {
    const until = world.now + PATIENCE;
    for (;;) {
      const outcome = attempt(through, asked);
      if (typeof outcome !== "string" && outcome._tag === wanted) return outcome;
      if (world.now >= until)
        throw new Violation(
          "L4",
          "everything was healed",
          `${what} through peer ${through.slot} gave ${wordOf(outcome)}`,
        );
      world.run(world.now + SECOND);
    }
  };
  /** Callers may have used up what the actor has until then. */
  const allowed = (through: SimPeer, asked: Asked): Outcome => {
    const until = world.now + PATIENCE;
    for (;;) {
      const outcome = attempt(through, asked);
      if (!isRejected(outcome, "TOO_MANY_ATTEMPTS") || world.now >= until) return outcome;
      world.run(world.now + SECOND);
    }
  };
  const invite = enrollment.invite("healed-holder", "team-1");
  const offered = insist(peer, "a request for options", invite, "Offered");
  if (offered._tag !== "Offered") return;
  const invited = { invite, offer: offered.offer };
  const made = { key: KEY, credential: KEY, signCount: 1 };
  const wrong = allowed(other, enrollment.finish(invited, { ...made, flaw: "challenge" }));
  if (!isRejected(wrong, "INVALID_CEREMONY"))
    throw new Violation(
      "L4",
      `peer ${peer.slot} offered options`,
      `a response to another challenge through peer ${other.slot} gave ${wordOf(wrong)}`,
    );
  const right = enrollment.finish(invited, { ...made, flaw: "nothing" });
  insist(other, "a response to options", right, "Registered");
  const again = allowed(peer, right);
  if (typeof again === "string" || again._tag !== "Registered" || again.created)
    throw new Violation(
      "L4",
      `a passkey was enrolled through peer ${other.slot}`,
      `its response again through peer ${peer.slot} gave ${wordOf(again)}`,
    );
};
