/** Responses that a peer verifies only to refuse them: a bounded number for a session and for an actor (S10). */
import { Violation } from "../base/Violation.ts";

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

export class RefusedFinishes {
  readonly #counts = new Map<string, Count>();

  /** Throws {@link Violation} where a peer has refused more than it should have looked at. */
  refused({ slot, process, registrationId, sub, askedAt, now }: RefusedFinish): void {
    const assertFew = (of: string, atOnce: number, millis: number): void => {
      const name = `${slot} ${process} ${of}`;
      const count = this.#counts.get(name) ?? { since: askedAt, refused: 0 };
      this.#counts.set(name, count);
      count.refused += 1;
      const most = atOnce + Math.floor((now - count.since) / (millis * 1_000)) + LEEWAY;
      if (count.refused > most)
        throw new Violation(
          "S10",
          `peer ${slot} has verified and refused ${count.refused} responses of ${of}`,
          `it may do so for ${atOnce}, and for one more every ${millis} ms`,
        );
    };
    assertFew(`session ${registrationId}`, 16, 10_000);
    assertFew(`subject ${sub}`, 32, 1_000);
  }
}
