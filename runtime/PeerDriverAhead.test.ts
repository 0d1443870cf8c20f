import { nobleKeyCrypto } from "./threshold/NobleKeyCrypto.ts";
import { describe, expect, it } from "vitest";
import type { Entropy } from "../core/base/Digest.ts";
import { installedProviders } from "../core/credential/SignatureProvider.ts";
import { ceremony, Cluster, crypto, inUse, settingsOf } from "../properties/cluster/Cluster.ts";
import { commands } from "../core/commands/Commands.ts";
import { PeerDriver } from "./PeerDriver.ts";

const empty = { get: () => undefined, scan: () => [] };

/** A new peer of three over a store whose flushes end when the test says so, and what it announces to its network. */
const newPeer = () => {
  const flushes: Array<() => void> = [];
  const told: Array<string> = [];
  const driver = new PeerDriver({
    store: { ...empty, atStart: empty, commit: (_writes, done) => void flushes.push(() => done()) },
    clock: () => ({ now: 1_800_000_000_000, asBefore: [], elapsed: 0 }),
    entropy: () => "22".repeat(32) as Entropy,
    crypto,
    commands,
    providers: installedProviders,
    ceremony,
    keyCrypto: nobleKeyCrypto,
    judgesTokens: () => true,
    isWhole: () => true,
    settings: settingsOf(1, 3),
    sendAhead: (to, message) => void told.push(`soon ${message._tag} to ${to}`),
    send: (to, message) => void told.push(`${message._tag} to ${to}`),
    reply: () => undefined,
    setTimer: () => undefined,
    halt: (reason) => {
      throw reason;
    },
  });
  return { driver, told, flush: () => flushes.splice(0).forEach((end) => end()) };
};

describe("what is sent after a flush", () => {
  it("is told while the flush runs, and sent after it", () => {
    const key = new Cluster(1).keys.get(1);
    if (key === undefined) throw new Error("a cluster has keys");
    const { driver, told, flush } = newPeer();
    const founding = { peerId: 1, threshold: 2, total: 3, vault: new Uint8Array(8) };
    const keys = { identityKey: key.publicKey, integrityKey: key.publicKey };
    driver.dispatch({ _tag: "Initialize", requestId: "init", ...founding, ...keys });
    flush();
    expect(told).toEqual([]);
    driver.dispatch({ _tag: "Verifying" });
    driver.unseal(inUse(key));
    const soon = ["soon GenesisCard to 2", "soon GenesisCard to 3"];
    expect(told).toEqual(soon);
    flush();
    expect(told).toEqual([...soon, "GenesisCard to 2", "GenesisCard to 3"]);
  });
});
