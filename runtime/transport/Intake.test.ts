import { expect, it } from "vitest";
import type { Message } from "../../core/Message.ts";
import type { Opened } from "../EnvelopeCodec.ts";
import { Intake, MOST_ABOUT_KEYS } from "./Intake.ts";
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

it("lets no member have so much about keys wait that another's message comes after all of it", () => {
  const consumed: Array<() => void> = [];
  const room = new MailboxRoom();
  const intake = new Intake<Opened, never>({
    open: (opened) => opened,
    judge: (_tokens, judged) => judged([]),
    deliver: (_opened, _actors, done) => void consumed.push(done),
    unread: () => undefined,
    hold: () => undefined,
    backlog: () => 0,
    room,
  });
  const opened = (from: number, tag: Message["_tag"]) =>
    ({ from, versions: { lowest: 1, highest: 1 }, message: { _tag: tag, evidence: { token: "t" } } }) as never;
  const takes = (from: number, tag: Message["_tag"], times: number): number => {
    let taken = times;
    const refuse = (): void => void (taken -= 1);
    const incoming = { refuse, end: () => true, member: from, mayAnswer: false, scrutiny: undefined };
    for (let each = 0; each < times; each++) intake.receive(opened(from, tag), 1, incoming);
    return taken;
  };
  expect([takes(1, "Sign.Open", 100), takes(2, "Sign.Open", 1)]).toEqual([MOST_ABOUT_KEYS, 1]);
  expect([takes(1, "Repair.Part", 1), takes(1, "Votes", 100)]).toEqual([1, 100]);
  const held = room.held;
  const answer = room.parcel(1);
  answer.grow(1);
  intake.receiveAnswer(opened(1, "Sign.Open"), answer, 1, undefined);
  expect([room.held, consumed.length]).toEqual([held, MOST_ABOUT_KEYS + 102]);
  // Each is counted once, however often it is said to be consumed.
  for (const done of consumed.splice(0, 2)) for (let times = 0; times < 2; times++) done();
  expect(takes(1, "Sign.Open", 5)).toBe(2);
});
