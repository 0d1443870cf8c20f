import { describe, expect, it } from "vitest";
import { busy, NO_CAPACITY, unready } from "./Unavailable.ts";

describe("what callers are told while the cluster is in the way", () => {
  const away = { peerId: 2, reason: "it does not answer" };
  const full = { peerId: 3, reason: NO_CAPACITY };

  it("names every member and its reason", () => {
    const { code, detail, members, ref } = unready([away, full], "ref");
    expect([code, members, ref]).toEqual(["APPROVER_REPLICATION_UNAVAILABLE", [away, full], "ref"]);
    expect(detail).toContain(`peer 2: it does not answer; peer 3: ${NO_CAPACITY}`);
  });

  it("is that capacity is used up only where nothing else is in the way", () => {
    const all = [full, { ...full, peerId: 2 }];
    expect(unready(all, "ref")).toMatchObject({ code: "PREPARATION_CAPACITY", members: all });
  });

  it("says of which approver, and whether the outcome is open", () => {
    expect(busy("the test", "ref")).toMatchObject({ ref: "ref", outcomeUnknown: false });
    expect(busy("the test", "ref", true)).toMatchObject({ outcomeUnknown: true });
  });
});
