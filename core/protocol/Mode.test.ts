import { changed } from "../../properties/cluster/Changed.ts";
import type { StateFields } from "./StateFields.ts";
import { describe, expect, it } from "vitest";
import { founded } from "../../properties/cluster/Cluster.ts";
import { openStep } from "../../properties/cluster/OpenStep.ts";
import { takeStep } from "../Peer.ts";
import { InvariantViolation } from "../base/Invariant.ts";
import { assertTransition, type Mode, mayBecome, modeOf, modes } from "./Mode.ts";
import { freshRecovery } from "./TakingOver.ts";

const { state, context } = openStep(founded(), 2);
const recovery = freshRecovery("the test");
const unproven = new Set([3]);
const was = { membership: undefined, quarantine: "old", integrityFault: "lost", recovery, unproven };

describe("the mode of a peer", () => {
  it.each<readonly [Mode, Partial<StateFields>]>([
    ["blank", { ...was, peer: undefined, unsealed: false }],
    ["sealed", { ...was, unsealed: false }],
    ["verifying", { ...was, unsealed: false, verifying: true }],
    ["damaged", was],
    ["founding", { membership: undefined }],
    ["quarantined", { quarantine: "old", recovery, unproven }],
    ["announcing", { recovery, unproven }],
    ["recovering", { recovery }],
    ["joining", { unproven }],
    ["active", {}],
  ])("is %s, whatever comes after that", (mode, change) => {
    expect(modeOf(changed(state, change))).toBe(mode);
  });
});

describe("a step", () => {
  it("may leave every mode, and only an initialization the first one", () => {
    expect(modes.filter((mode) => mayBecome[mode].size === 0)).toEqual([]);
    expect(modes.filter((mode) => mayBecome[mode].has("blank"))).toEqual([]);
    expect(() => assertTransition("active", "active")).not.toThrow();
  });

  it("that makes another mode of it than may come next is not taken", () => {
    expect(() => assertTransition("quarantined", "active")).toThrow(InvariantViolation);
    // Its keys were never verified against its rows.
    const unverified = changed(state, { unsealed: false });
    expect(() => takeStep(unverified, { _tag: "Unsealed" }, context)).toThrow(
      "S38: a peer that was sealed became active in one step",
    );
    expect(
      takeStep(changed(unverified, { verifying: true }), { _tag: "Unsealed" }, context).state.fitness.unsealed,
    ).toBe(true);
  });
});
