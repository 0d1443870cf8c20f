import { randomBytes } from "node:crypto";
import { Either } from "effect";
import { expect, it } from "vitest";
import type { OperatorCall } from "../../core/protocol/OperatorAct.ts";
import { settingsOf } from "../../properties/cluster/Cluster.ts";
import { MemoryByteStore } from "../../runtime/MemoryByteStore.ts";
import { WallClock } from "../../runtime/WallClock.ts";
import { cryptoBackend } from "../crypto/CryptoBackend.ts";
import { shamirProvider } from "../seal/ShamirSeal.ts";
import { jsonLog } from "./Log.ts";
import { Metrics } from "./Metrics.ts";
import { Operation } from "./Operation.ts";
import { Peer } from "./Peer.ts";
import { SealControl } from "./SealControl.ts";

const operation = (call: OperatorCall): Operation =>
  new Operation({
    at: 1_800_000_000_000,
    call,
    actor: { iss: undefined, sub: "olga", jti: "t1" },
    requestId: "r1",
    request: { method: "POST", path: "/v1/custody/system", bodyDigest: undefined },
    outcome: "APPLIED",
    detail: "",
    times: 1,
  });

/** An unsealed peer that is alone, whose flushes end when the test says so once it has slowed them down. */
const unsealed = async () => {
  const waiting: Array<() => void> = [];
  let isSlow = false;
  const backend = cryptoBackend("portable");
  const bytes = new MemoryByteStore({ schedule: (flush) => (isSlow ? void waiting.push(flush) : flush()) });
  const peer = new Peer({
    bytes,
    backend,
    settings: { ...settingsOf(1, 1), answerMillis: 1_000 },
    metrics: new Metrics(),
    flushed: () => undefined,
    clock: new WallClock({ clock: () => 1_800_000_000_000, elapsed: () => 0 }),
    elapsedMillis: () => 0,
    journal: { acts: [], append: (_kept, _isFirst, done) => done() },
    judgesTokens: () => true,
    send: () => undefined,
    isInSession: () => false,
    founded: () => undefined,
    initialized: () => undefined,
    halt: (reason) => {
      throw reason;
    },
  });
  const control = new SealControl({
    peer,
    provider: shamirProvider({ shares: 3, threshold: 2 }, (length) => Uint8Array.from(randomBytes(length))),
    backend,
    log: jsonLog(
      "error",
      () => undefined,
      () => 0,
    ),
  });
  const present = sharesIn(Either.getOrThrow(await control.initialize({ peerId: 1, threshold: 1, total: 1 })));
  for (const share of present.slice(0, 2)) await control.unseal(share);
  return { peer, control, present, land: () => waiting.shift()?.(), slowDown: () => void (isSlow = true) };
};

const sharesIn = (made: object): ReadonlyArray<string> =>
  "shares64" in made && Array.isArray(made.shares64) ? made.shares64.map(String) : [];

it("says that a rekey may still be done while its vault is being written, to holders of either set", async () => {
  const { peer, control, present, land, slowDown } = await unsealed();
  const rekey = (share64 = "") => control.rekey(share64, operation("REKEY"));
  await control.startRekey({ sharing: undefined, recipients: [] }, operation("REKEY"));
  await rekey(present[0]);
  const [first, second, third] = sharesIn(Either.getOrThrow(await rekey(present[1])));
  await rekey(first);
  slowDown();
  const late = { left: { outcomeUnknown: true, hint: expect.stringContaining("Keep both sets") as string } };
  expect(await rekey(second)).toMatchObject(late);
  for (const share of [second, third, present[2]]) expect(await rekey(share)).toMatchObject(late);
  const ofAnotherSet = { left: { message: expect.stringContaining("is not of the set") as string } };
  expect(await rekey("no share")).toMatchObject(ofAnotherSet);
  land();
  for (const share of [second, third]) expect(await rekey(share)).toMatchObject({ right: { step: "DONE" } });
  expect(await rekey(present[2])).toMatchObject(ofAnotherSet);
  peer.stop();
});
