import { describe, expect, it } from "vitest";
import type { Digest } from "../../core/base/Digest.ts";
import type { Warrant } from "../Warrant.ts";
import type { BodyAccount } from "../BodyBudget.ts";
import { ArrivalRoom } from "./ArrivalRoom.ts";

const KIB = 1024;
const MIB = 1024 * KIB;
let nonces = 0;
const warrantOf = (from: number, length: number): Warrant => {
  nonces += 1;
  return { from, to: 1, topologyDigest: undefined, length, nonce: String(nonces).padStart(64, "0") as Digest };
};
/** What becomes of so many bytes of a message. */
const outcome = (account: BodyAccount | undefined, bytes: number): string =>
  account === undefined ? "refused" : (account.take(bytes) ?? "taken");
const small = { length: 64 * KIB, address: "1", isProven: false, warrant: undefined };

describe("room for messages that arrive", () => {
  it("is little for strangers, less for those of one address, and none for their large messages", () => {
    const room = new ArrivalRoom();
    expect(room.open({ ...small, length: 64 * KIB + 1 })).toBeUndefined();
    const filled = (address: string): number => {
      let count = 0;
      while (outcome(room.open({ ...small, address }), 64 * KIB) === "taken") count += 1;
      return count;
    };
    expect(Array.from({ length: 9 }, (_, index) => filled(String(index)))).toEqual([32, 32, 32, 32, 32, 32, 32, 32, 0]);
    expect(room.held).toBe(16 * MIB);
    expect(outcome(room.open({ ...small, address: "0", isProven: true }), 64 * KIB)).toBe("taken");
  });

  it("is much for members, and of one member half of it", () => {
    const room = new ArrivalRoom();
    const large = (from: number) => {
      const length = 16 * MIB;
      return outcome(room.open({ length, address: "1", isProven: true, warrant: warrantOf(from, length) }), length);
    };
    const outcomes = [large(2), large(2), large(2), large(3), large(3), large(4)];
    expect(outcomes).toEqual(["taken", "taken", "actor", "taken", "taken", "all"]);
    expect(outcome(room.open({ ...small, isProven: false }), 64 * KIB)).toBe("taken");
  });

  it("is given for a warrant once at a time", () => {
    const room = new ArrivalRoom();
    const warrant = warrantOf(2, MIB);
    const arrival = { length: MIB, address: "1", isProven: false, warrant };
    const account = room.open(arrival);
    expect(outcome(account, MIB)).toBe("taken");
    expect(room.open(arrival)).toBeUndefined();
    account?.close();
    expect(room.held).toBe(0);
    expect(outcome(room.open(arrival), MIB)).toBe("taken");
    expect(room.open({ ...arrival, length: MIB + 1, warrant: warrantOf(2, MIB) })).toBeUndefined();
  });
});
