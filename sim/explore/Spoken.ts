/** What was said so far in a small world, as far as claims and lies look back at it: an immutable value. */
import type { Flying } from "./Member.ts";
import { type Fingerprint, gathered, joined } from "./Fingerprint.ts";

/** Which of all that is said is kept. */
export interface Keeping {
  readonly sent: (message: Flying) => boolean;
  readonly arrived: (message: Flying) => boolean;
}

export const keepsNothing: Keeping = { sent: () => false, arrived: () => false };

const withMore = (known: ReadonlyArray<Flying>, more: ReadonlyArray<Flying>): ReadonlyArray<Flying> => {
  // Equal messages are identical: the bench has one object for each.
  const added = more.filter((each, index) => !known.includes(each) && more.indexOf(each) === index);
  return added.length === 0 ? known : [...known, ...added];
};

export class Spoken {
  static readonly nothing = new Spoken([], []);
  /** Each once, the first one first. */
  readonly sent: ReadonlyArray<Flying>;
  readonly arrived: ReadonlyArray<Flying>;
  readonly print: Fingerprint;

  private constructor(sent: ReadonlyArray<Flying>, arrived: ReadonlyArray<Flying>) {
    this.sent = sent;
    this.arrived = arrived;
    this.print = joined(gathered(sent.map(({ print }) => print)), gathered(arrived.map(({ print }) => print)));
  }

  /** With what has left or reached a member since, as far as it is kept. */
  with(keeping: Keeping, sent: ReadonlyArray<Flying>, arrived: ReadonlyArray<Flying>): Spoken {
    const nowSent = withMore(this.sent, sent.filter(keeping.sent));
    const nowArrived = withMore(this.arrived, arrived.filter(keeping.arrived));
    return nowSent === this.sent && nowArrived === this.arrived ? this : new Spoken(nowSent, nowArrived);
  }

  /** What of it is kept by less. */
  within(keeping: Keeping): Spoken {
    return Spoken.nothing.with(keeping, this.sent, this.arrived);
  }
}
