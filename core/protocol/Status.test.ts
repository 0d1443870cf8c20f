import { NEWEST } from "../codec/Versioned.ts";
import { changed } from "../../properties/cluster/Changed.ts";
import { commands } from "../commands/Commands.ts";
import { describe, expect, it } from "vitest";
import { cryptoOf } from "../../runtime/CryptoPrimitives.ts";
import { noblePrimitives } from "../../runtime/NobleCrypto.ts";
import { boot } from "./Boot.ts";
import type { Digest, PublicKey } from "../base/Digest.ts";
import type { PeerState } from "./PeerState.ts";
import { membershipOf } from "./Topology.ts";
import { sealState, statusDetail } from "./Status.ts";

const crypto = cryptoOf(noblePrimitives);
const digest = (byte: string): Digest => byte.repeat(64) as Digest;
const key = (byte: string): PublicKey => byte.repeat(64) as PublicKey;

const fresh = boot({ get: () => undefined, scan: () => [] }, crypto, commands, 0);
const initialized = changed(fresh, {
  peer: {
    peerId: 2,
    threshold: 2,
    total: 3,
    identityKey: key("1"),
    integrityKey: key("2"),
    nonce: digest("3"),
    unsealedOnce: false,
  },
});
const membership = membershipOf(crypto, {
  version: NEWEST,
  clusterId: digest("4"),
  epoch: 1,
  members: [1, 2, 3].map((peerId) => ({ peerId, identityKey: key(String(peerId)), shareIndex: peerId })),
  threshold: 2,
  prevDigest: undefined,
  development: true,
  firstSlot: 1,
  transferId: undefined,
});

describe("the state in a word", () => {
  it("follows initialization and seal", () => {
    expect([fresh, initialized, changed(initialized, { unsealed: true })].map(sealState)).toEqual([
      "UNINITIALIZED",
      "SEALED",
      "UNSEALED",
    ]);
  });
});

describe("the detail", () => {
  it("is nothing before initialization", () => {
    expect(statusDetail(fresh)).toBeUndefined();
  });

  it("shows the founding with its faults by peer, ascending", () => {
    const founding = {
      ...initialized.cluster.founding,
      signatures: new Map(),
      faults: new Map([
        [3, "peer id 3 is used twice"],
        [1, "peer 1 has total 2, this peer has 3"],
      ]),
    };
    expect(statusDetail(changed(initialized, { founding }))).toMatchObject({
      peerId: 2,
      topology: undefined,
      founding: {
        introduced: [],
        signed: [],
        faults: [
          { peerId: 1, reason: "peer 1 has total 2, this peer has 3" },
          { peerId: 3, reason: "peer id 3 is used twice" },
        ],
      },
    });
  });

  it("shows no founding once there is a topology and nobody is at fault, and an empty one before", () => {
    const foundingOf = (state: PeerState) => statusDetail(state)?.founding;
    expect(foundingOf(initialized)).toEqual({ introduced: [], signed: [], faults: [] });
    expect(foundingOf(changed(initialized, { membership }))).toBeUndefined();
  });

  it("counts whoever waits at the writer for a turn and whoever waits here for the writer", () => {
    const queue = Array.from({ length: 2 }) as PeerState["requests"]["queue"];
    const awaited = new Map([["request", undefined]]) as unknown as PeerState["requests"]["awaited"];
    expect(statusDetail(changed(initialized, { queue, awaited }))?.waiting).toBe(3);
  });

  it("shows topology, counters and what is wrong; the founding only while somebody is at fault", () => {
    const state = changed(initialized, {
      membership,
      highSeq: 7,
      decidedSeq: 5,
      locks: new Map([["key:x", digest("6")]]),
      integrityFault: "approvers/x",
      quarantine: "an old disk",
      recovery: undefined,
    });
    const detail = statusDetail(state);
    expect(detail).toMatchObject({
      topology: {
        clusterId: digest("4"),
        epoch: 1,
        digest: membership.digest,
        members: [1, 2, 3],
        writer: 1,
        development: true,
      },
      founding: undefined,
      approvers: 0,
      uncommitted: 0,
      locks: 1,
      outbox: 0,
      waiting: 0,
      highestSlot: 7,
      lastDecidedSlot: 5,
      integrityFault: "approvers/x",
      quarantine: "an old disk",
    });
    // The number of keys is read from rows, and these do not hold.
    expect(detail?.integrityKeyVersion).toBeUndefined();
    expect(statusDetail(changed(state, { integrityFault: undefined, integrityVersion: 3 }))?.integrityKeyVersion).toBe(
      3,
    );
    const founding = { ...state.cluster.founding, faults: new Map([[3, "it was wiped"]]) };
    expect(statusDetail(changed(state, { founding }))?.founding?.faults).toEqual([
      { peerId: 3, reason: "it was wiped" },
    ]);
  });
});
