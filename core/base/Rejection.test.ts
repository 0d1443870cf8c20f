import { describe, expect, it } from "vitest";
import { Limits } from "./Limits.ts";
import { rejection } from "./Rejection.ts";

const many = Array.from({ length: 100 }, (_, at) => at);

describe("a rejection", () => {
  it("names no more faults and members than fit into a message", () => {
    const faults = many.map((at) => ({ pointer: `/${at}`, code: "unknown", detail: "It is not known." }));
    const members = many.map((peerId) => ({ peerId, reason: "it is sealed" }));
    const all = rejection("INVALID_REQUEST_BODY", "It does not fit.", "Correct it.", { faults, members });
    expect(all.faults).toEqual(faults.slice(0, Limits.listedFaults));
    expect(all.members).toEqual(members.slice(0, Limits.members));
  });

  it("leaves empty what it is not told", () => {
    expect(rejection("SEALED", "It is sealed.", "Unseal it.")).toMatchObject({
      faults: [],
      members: [],
      ref: undefined,
      outcomeUnknown: false,
    });
  });
});
