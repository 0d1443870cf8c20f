import { expect, it } from "vitest";
import type { Message } from "../../core/Message.ts";
import { MemberClocks } from "./MemberClocks.ts";

const ready = (clock: number) => ({ _tag: "Ready", clock }) as Message;

it("knows the clocks of the configured peers, and listens to no other name", () => {
  const clocks = new MemberClocks([2, 3], () => 1_000);
  const versions = { lowest: 1, highest: 2 };
  for (const from of [2, 4, 5]) clocks.saw({ from, versions, message: ready(1_250) });
  // Nothing vouches for these.
  for (const from of [2, 3]) clocks.saw({ from, versions: undefined, message: ready(9_000) });
  expect([2, 3, 4, 5].map((peerId) => clocks.aheadMillis(peerId))).toEqual([250, undefined, undefined, undefined]);
});
