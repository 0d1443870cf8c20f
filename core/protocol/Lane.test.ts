import { expect, it } from "vitest";
import type { Message } from "../Message.ts";
import { laneOf } from "./Lane.ts";

const laneOfA = (tag: Message["_tag"]) => laneOf({ _tag: tag } as Message);

it("keeps a round apart from what anybody may have a member send to another", () => {
  for (const tag of ["Prepare", "Votes", "Commit", "CommitAcks", "Ready", "ReadyProbe", "Sign.Open"] as const)
    expect(laneOfA(tag)).toBe("round");
  for (const tag of ["GenesisPinned", "GenesisRefused", "Promotion.Standing", "Promotion.Refused"] as const)
    expect(laneOfA(tag)).toBe("bulk");
  expect(laneOfA("Outcome")).toBe("bulk");
});
