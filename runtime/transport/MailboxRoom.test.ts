import { describe, expect, it } from "vitest";
import { MailboxRoom } from "./MailboxRoom.ts";

const KIB = 1024;
const MIB = 1024 * KIB;

describe("the room of messages that the driver has not consumed", () => {
  it("is 32 MiB for one member and 64 MiB for all", () => {
    const room = new MailboxRoom();
    const of = (from: number, bytes: number) => room.parcel(from).grow(bytes);
    expect([of(2, 20 * MIB), of(2, 12 * MIB), of(2, 1)]).toEqual([true, true, false]);
    expect([of(3, 32 * MIB), of(4, 1)]).toEqual([true, false]);
    expect(room.held).toBe(64 * MIB);
  });

  it("takes a small message for 32 KiB", () => {
    const room = new MailboxRoom();
    const taken = Array.from({ length: 1_025 }, () => room.parcel(2).grow(1));
    expect(taken.indexOf(false)).toBe(1_024);
    expect(room.parcel(3).grow(1)).toBe(true);
  });

  it("grows with a message, piece by piece", () => {
    const room = new MailboxRoom();
    const parcel = room.parcel(2);
    expect([parcel.grow(30 * KIB), room.held]).toEqual([true, 32 * KIB]);
    expect([parcel.grow(2 * KIB), room.held]).toEqual([true, 32 * KIB]);
    expect([parcel.grow(1), room.held]).toEqual([true, 32 * KIB + 1]);
    expect([parcel.grow(32 * MIB), room.held]).toEqual([false, 32 * KIB + 1]);
  });

  it("is given back once, and no more is taken by what was given back", () => {
    const room = new MailboxRoom();
    const [first, second] = [room.parcel(2), room.parcel(2)];
    for (const parcel of [first, second]) parcel.grow(MIB);
    first.release();
    first.release();
    expect(room.held).toBe(MIB);
    expect(first.grow(1)).toBe(false);
    second.release();
    expect(room.held).toBe(0);
  });
});
