/** Real crypto leaves nothing to choose, so a run must be the same to the byte with every backend. */
import { createHash } from "node:crypto";
import { expect, it } from "vitest";
import { encode } from "../../core/codec/CborWriter.ts";
import { messageCodec } from "../../core/Message.ts";
import { type Backend, portableBackend } from "../crypto/Cryptography.ts";
import { silent } from "../world/Silent.ts";
import { runSeed } from "../run/Simulation.ts";
import { type Tier, tierOf } from "../base/Tier.ts";
import { backendOf, nativeBackend } from "./NativeBackend.ts";

/** A run, and a hash over every message that was sent in it, with the signatures that it carries. */
const runWith = (crypto: Tier, backend: Backend) => {
  const messages = createHash("sha256");
  const { hash, events } = runSeed(
    { seed: 24, schedule: "drop-dup-reorder", peers: 2, steps: 60, crypto },
    { backend, observer: { ...silent, sent: ({ message }) => void messages.update(encode(messageCodec, message)) } },
  );
  return { hash, events, messages: messages.digest("hex") };
};

it.each(["codec", "real"] as const)("computes a run of the tier %s as the portable library does", (crypto) => {
  expect(runWith(crypto, nativeBackend)).toEqual(runWith(crypto, portableBackend));
});

it("tells runs apart by the messages in them", () => {
  expect(runWith("codec", nativeBackend).messages).not.toBe(runWith("real", nativeBackend).messages);
});

it("leaves one seed in 4,096 that is real to the portable library", () => {
  const portable = Array.from({ length: 4_096 }, (_, index) => 12_345 + index).filter(
    (seed) => tierOf(seed) === "real" && backendOf(seed) === portableBackend,
  );
  expect(portable).toHaveLength(1);
});
