/**
 * Responses that a peer verifies only to refuse them: a bounded number for a session and for an actor (S10), and not
 * fewer (S30).
 */
import type { Capacities } from "../../core/base/Capacities.ts";
import { Violation } from "../base/Violation.ts";

/** Whose response it is: that of a session, under a token of a subject. */
type Sender = Pick<RefusedFinish, "registrationId" | "sub">;

/** A response that was refused, the peer it came to, and who sent it. */
export interface RefusedFinish {
  readonly slot: number;
  /** The process that was asked and has answered: each is counted by itself. */
  readonly process: number;
  readonly registrationId: string;
  readonly sub: string;
  /** Microseconds. */
  readonly askedAt: number;
  readonly now: number;
}

interface Count {
  readonly since: number;
  refused: number;
}

/** Leeway for a refusal that came back while it was on its way, and one that a quick clock gave back early. */
const LEEWAY = 2;

/** Why a good response is refused: for what is registered. */
const ofGoodOnes = ["CREDENTIAL_ALREADY_REGISTERED", "KEY_ALREADY_REGISTERED"];

/** Contract 8, in numbers of its own. */
const OF_SERVICE = { refusedFinishes: 16, refusedFinishesOfActor: 32, refusedFinishNames: 2048 };

export class RefusedFinishes {
  readonly #counts = new Map<string, Count>();
  readonly #most: typeof OF_SERVICE;
  /** By session and by subject: responses sent, to whomever, that were no success. */
  readonly #sent = new Map<string, number>();

  /** @param capacities those that are not the service's */
  constructor(capacities: Partial<Capacities>) {
    this.#most = { ...OF_SERVICE, ...capacities };
  }

  #count({ registrationId, sub }: Sender, by: number): void {
    for (const name of [registrationId, sub]) this.#sent.set(name, (this.#sent.get(name) ?? 0) + by);
  }

  /** A response is sent. */
  asked(sender: Sender): void {
    this.#count(sender, 1);
  }

  /** The writer has refused one more copy of it, which it verified like the first: a good one counts for its session. */
  copied(sender: Sender, code: string): void {
    if (!ofGoodOnes.includes(code)) return this.#count(sender, 1);
    this.#sent.set(sender.registrationId, (this.#sent.get(sender.registrationId) ?? 0) + 1);
  }

  /** It was a success. */
  succeeded(sender: Sender): void {
    this.#count(sender, -1);
  }

  /** Throws {@link Violation} where a response is one too many before as many were sent as may be refused. */
  tooMany(requestId: string, { registrationId, sub }: Sender): void {
    const ofSession = (this.#sent.get(registrationId) ?? 0) - 1;
    const ofSubject = (this.#sent.get(sub) ?? 0) - 1;
    const { refusedFinishes, refusedFinishesOfActor } = this.#most;
    if (ofSession >= refusedFinishes || ofSubject >= refusedFinishesOfActor) return;
    throw new Violation(
      "S30",
      `${ofSession} other responses of session ${registrationId} and ${ofSubject} of subject ${sub} were no success`,
      `request ${requestId} was one too many, of ${refusedFinishes} and ${refusedFinishesOfActor}`,
    );
  }

  /** Throws {@link Violation} where a peer has refused more than it should have looked at. */
  refused({ slot, process, registrationId, sub, askedAt, now }: RefusedFinish): void {
    const { refusedFinishes, refusedFinishesOfActor, refusedFinishNames } = this.#most;
    const assertFew = (of: string, atOnce: number, millis: number): void => {
      const name = `${slot} ${process} ${of}`;
      const count = this.#counts.get(name) ?? { since: askedAt, refused: 0 };
      this.#counts.set(name, count);
      count.refused += 1;
      // It may have forgotten any of them: the writer counts those that come through others, too.
      if (this.#sent.size > refusedFinishNames) return;
      const most = atOnce + Math.floor((now - count.since) / (millis * 1_000)) + LEEWAY;
      if (count.refused > most)
        throw new Violation(
          "S10",
          `peer ${slot} has verified and refused ${count.refused} responses of ${of}`,
          `it may do so for ${atOnce}, and for one more every ${millis} ms`,
        );
    };
    assertFew(`session ${registrationId}`, refusedFinishes, 10_000);
    assertFew(`subject ${sub}`, refusedFinishesOfActor, 1_000);
  }
}
