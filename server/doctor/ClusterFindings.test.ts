import { describe, expect, it } from "vitest";
import type { PeerStatus } from "../cli/PeerStatus.ts";
import { clusterFindings } from "./ClusterFindings.ts";

const peer = (peerId: number, changes: Partial<PeerStatus> = {}): PeerStatus => ({
  url: `http://127.0.0.1:730${peerId}`,
  peerId,
  state: "UNSEALED",
  ready: true,
  reason: null,
  next: null,
  undecided: 0,
  locks: 0,
  outbox: 0,
  epoch: 1,
  incarnation: 1,
  clockMillis: 0,
  flushMillis: { median: 1, last: 1 },
  version: "0.1.0",
  configDigest: "aa",
  warnings: [],
  ...changes,
});

const found = (peers: ReadonlyArray<PeerStatus>, own?: string): ReadonlyArray<string> =>
  clusterFindings(peers, own).flatMap(({ check, level, message }) =>
    level === "ok" ? [] : [`${level} ${check}: ${message}`],
  );

describe("a cluster", () => {
  it("whose peers agree is well", () => {
    expect(found([peer(1), peer(2), peer(3)], "aa")).toEqual([]);
    expect(clusterFindings([], undefined)).toEqual([]);
  });

  it.each([
    {
      why: "a peer is not ready",
      changes: { ready: false, reason: "peer 3: it is sealed", next: "unseal it" },
      says: "fail peer 2: peer 3: it is sealed; unseal it",
    },
    { why: "a clock is off", changes: { clockMillis: -5_001 }, says: "fail clock of peer 2: -5001 ms: more than 5 s" },
    { why: "a clock drifts", changes: { clockMillis: 2_600 }, says: "warn clock of peer 2: +2600 ms; look at NTP" },
    { why: "a disk is slow", changes: { flushMillis: { median: 100, last: 1 } }, says: "warn flush at peer 2: 100 ms" },
    { why: "a peer warns", changes: { warnings: ["a: b; c"] }, says: "warn peer 2: a: b; c" },
    {
      why: "versions differ",
      changes: { version: "0.2.0" },
      says: "warn versions: 0.1.0 at peer 1, peer 3; 0.2.0 at peer 2",
    },
    {
      why: "files differ",
      changes: { configDigest: "bb" },
      says: "fail shared configuration: differs: aa at peer 1, peer 3; bb at peer 2",
    },
    { why: "one is named twice", changes: { peerId: 1 }, says: "fail peers: two addresses lead to one peer" },
    { why: "the token shows little", changes: { peerId: null }, says: "warn http://127.0.0.1:7302: shows no more" },
  ])("is told when $why", ({ changes, says }) => {
    expect(found([peer(1), peer(2, changes), peer(3)]).map((each) => each.slice(0, says.length))).toEqual([says]);
  });

  it("is compared with the file of this machine", () => {
    expect(found([peer(1), peer(2)], "cc")).toEqual([
      expect.stringMatching(/^fail shared configuration: differs: cc at this file; aa at peer 1, peer 2; compare/),
    ]);
  });
});
