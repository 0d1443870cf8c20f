import { NEWEST } from "../codec/Versioned.ts";
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { describe, expect, it } from "vitest";
import { type Cluster, crypto, founded, NOW } from "../../properties/cluster/Cluster.ts";
import { stateOf } from "../../properties/cluster/Restoring.ts";
import type { Crypto } from "../crypto/Crypto.ts";
import type { Digest, Signature } from "../base/Digest.ts";
import { attest, type Forward, isAttested, isSameRequest, requestLineOf } from "./Forward.ts";
import type { Membership, PeerId } from "./Topology.ts";

const membershipIn = (cluster: Cluster): Membership => {
  const {
    cluster: { membership },
  } = stateOf(cluster, 1);
  if (membership === undefined) throw new Error("the cluster is not founded");
  return membership;
};

const cluster = founded();
const membership = membershipIn(cluster);
const arrival = { process: "ab".repeat(32) as Digest, at: 5 };
const call = { method: "POST", path: "/somewhere", ifMatch: undefined, rawBody: utf8ToBytes("{}") };

/** A request that came in at a peer, attested with the key of a signer. */
const attestedBy = (signer: PeerId, entryPeer: PeerId = signer): Forward => {
  const key = cluster.keys.get(signer);
  if (key === undefined) throw new Error("no such peer");
  return attest(crypto, key, membership, {
    version: NEWEST,
    requestId: "request",
    entryPeer,
    call,
    token: "token",
    receivedAt: NOW,
    arrival,
  });
};
const honest = attestedBy(3);
const fromWriter = attestedBy(1);

describe("a forwarded request", () => {
  it.each<readonly [string, Forward]>([
    ["as its entry peer signed it", honest],
    ["that entered at the writer, whose envelope says it all", fromWriter],
  ])("counts %s", (_what, forward) => {
    expect(isAttested(crypto, membership, forward)).toBe(true);
    expect(isAttested(crypto, membership, forward)).toBe(true);
  });

  it.each<readonly [string, Forward]>([
    ["that nobody signed", { ...honest, attestation: undefined }],
    ["that another member signed", attestedBy(2, 3)],
    ["that entered at a stranger", attestedBy(3, 4)],
    ["by another name", { ...honest, requestId: "other" }],
    ["at another entry peer", { ...honest, entryPeer: 2 }],
    ["with another method", { ...honest, call: { ...call, method: "PUT" } }],
    ["with another path", { ...honest, call: { ...call, path: "/elsewhere" } }],
    ["with another If-Match", { ...honest, call: { ...call, ifMatch: '"1"' } }],
    ["with another body", { ...honest, call: { ...call, rawBody: utf8ToBytes("{ }") } }],
    ["with another token", { ...honest, token: "stolen" }],
    ["of another time", { ...honest, receivedAt: NOW + 1 }],
    ["of another moment", { ...honest, arrival: { ...arrival, at: 6 } }],
    ["of another process", { ...honest, arrival: { ...arrival, process: "cd".repeat(32) as Digest } }],
    ["with an empty signature", { ...honest, attestation: "00".repeat(64) as Signature }],
    ["that entered at the writer and was signed all the same", { ...fromWriter, attestation: honest.attestation }],
  ])("does not count %s, however often it is shown", (_what, forward) => {
    expect(isAttested(crypto, membership, forward)).toBe(false);
    expect(isAttested(crypto, membership, forward)).toBe(false);
  });

  it("does not count in another cluster of the same peers, although it does in its own", () => {
    expect(isAttested(crypto, membership, honest)).toBe(true);
    expect(isAttested(crypto, { ...membership, digest: "22".repeat(32) as Digest }, honest)).toBe(false);
  });

  it("is verified once for a topology, however many members ask, by each crypto for itself", () => {
    let verified = 0;
    const counting: Crypto = {
      ...crypto,
      verify: (...asked) => {
        verified += 1;
        return crypto.verify(...asked);
      },
    };
    const forward = { ...honest };
    expect([1, 2, 3].map(() => isAttested(counting, { ...membership }, forward))).toEqual([true, true, true]);
    expect(verified).toBe(1);
    expect(isAttested({ ...counting }, membership, forward)).toBe(true);
    expect(verified).toBe(2);
  });
});

describe("the line of a request in proposals and audit rows", () => {
  it("is made once of a call, by each crypto for itself", () => {
    let digests = 0;
    const counting = (digest: string): Crypto => ({
      ...crypto,
      sha256: () => {
        digests += 1;
        return digest as Digest;
      },
    });
    const [one, other] = [counting("11".repeat(32)), counting("22".repeat(32))];
    const own = { ...call };
    expect(requestLineOf(own, one)).toEqual({ method: "POST", path: "/somewhere", bodyDigest: "11".repeat(32) });
    expect(requestLineOf(own, one).bodyDigest).toBe("11".repeat(32));
    expect(digests).toBe(1);
    expect(requestLineOf(own, other).bodyDigest).toBe("22".repeat(32));
  });
});

it.each([
  ["the same id at the same entry peer", { entryPeer: 3, requestId: "request" }, true],
  ["the same id at another entry peer", { entryPeer: 2, requestId: "request" }, false],
  ["another id at the same entry peer", { entryPeer: 3, requestId: "other" }, false],
])("a request has another's name with %s: %s", (_what, name, isSame) => {
  expect(isSameRequest(honest, name)).toBe(isSame);
});
