import { expect, it } from "vitest";
import type { Opened } from "../EnvelopeCodec.ts";
import { Intake } from "./Intake.ts";
import { LEAST_BYTES, MailboxRoom } from "./MailboxRoom.ts";

/** Takes in messages that the driver never consumes, with room for two of a sender; says which were refused. */
const intakeOf = () => {
  const intake = new Intake<Opened, never>({
    open: (opened) => opened,
    judge: (_tokens, judged) => judged([]),
    deliver: () => undefined,
    unread: () => undefined,
    hold: () => undefined,
    backlog: () => 0,
    room: new MailboxRoom({ all: 8 * LEAST_BYTES, ofMember: 2 * LEAST_BYTES }),
  });
  return (from: number, isVouched: boolean): boolean => {
    let isTaken = true;
    const versions = isVouched ? { lowest: 1, highest: 1 } : undefined;
    intake.receive({ from, versions, message: { _tag: "ReadyProbe", nonce: "" } as never }, 1, {
      refuse: () => void (isTaken = false),
      end: () => undefined,
      member: undefined,
      mayAnswer: false,
    } as never);
    return isTaken;
  };
};

it("gives all that nothing vouches for the room of one, whatever names it bears, and members theirs", () => {
  const take = intakeOf();
  expect([take(1, false), take(2, false), take(3, false), take(1, false)]).toEqual([true, true, false, false]);
  expect([take(1, true), take(1, true), take(1, true)]).toEqual([true, true, false]);
  expect(take(2, true)).toBe(true);
});
