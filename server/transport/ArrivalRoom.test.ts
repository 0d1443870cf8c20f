import { describe, expect, it } from "vitest";
import type { Digest } from "../../core/Digest.ts";
import type { Warrant } from "../../runtime/Warrant.ts";
import { ArrivalRoom } from "./ArrivalRoom.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
let nonces = 0;
const warrantOf = (from: number, length: number): Warrant => {
  nonces += 1;
  return { from, to: 1, topologyDigest: undefined, length, nonce: String(nonces).padStart(64, "0") as Digest };
};
const small = { length: 64 * KIB, address: "1", isProven: false, warrant: undefined };

describe("room for messages that arrive", () => {
  it("is little for strangers, less for those of one address, and none for their large messages", () => {
    const room = new ArrivalRoom();
    expect(room.open({ ...small, length: 64 * KIB + 1 })).toBeUndefined();
    const filled = (address: string): number => {
      let count = 0;
      while (room.open({ ...small, address })?.take(64 * KIB) === undefined) count += 1;
      return count;
    };
    expect(Array.from({ length: 9 }, (_, index) => filled(String(index)))).toEqual([32, 32, 32, 32, 32, 32, 32, 32, 0]);
    expect(room.held).toBe(16 * MIB);
    expect(room.open({ ...small, address: "0", isProven: true })?.take(64 * KIB)).toBeUndefined();
  });

  it("is much for members, and of one member half of it", () => {
    const room = new ArrivalRoom();
    const large = (from: number) => {
      const length = 16 * MIB;
      return room.open({ length, address: "1", isProven: true, warrant: warrantOf(from, length) })?.take(length);
    };
    expect([large(2), large(2), large(2), large(3), large(3), large(4)]).toEqual([
      undefined,
      undefined,
      "actor",
      undefined,
      undefined,
      "all",
    ]);
    expect(room.open({ ...small, isProven: false })?.take(64 * KIB)).toBeUndefined();
  });

  it("is given for a warrant once at a time", () => {
    const room = new ArrivalRoom();
    const warrant = warrantOf(2, MIB);
    const arrival = { length: MIB, address: "1", isProven: false, warrant };
    const account = room.open(arrival);
    expect(account?.take(MIB)).toBeUndefined();
    expect(room.open(arrival)).toBeUndefined();
    account?.close();
    expect(room.held).toBe(0);
    expect(room.open(arrival)?.take(MIB)).toBeUndefined();
    expect(room.open({ ...arrival, length: MIB + 1, warrant: warrantOf(2, MIB) })).toBeUndefined();
  });
});
