import { changed } from "../properties/cluster/Changed.ts";
import { Either } from "effect";
import { beforeAll, describe, expect, it } from "vitest";
import { decode } from "../core/codec/CborReader.ts";
import { encode } from "../core/codec/CborWriter.ts";
import { commands } from "../core/commands/Commands.ts";
import type { Digest } from "../core/base/Digest.ts";
import type { Message } from "../core/Message.ts";
import { NEWEST } from "../core/codec/Versioned.ts";
import { ENVELOPE_VERSION, signedEnvelopeCodec } from "../core/protocol/Message.ts";
import { emptyState, type PeerState } from "../core/protocol/PeerState.ts";
import { NEXT_VERSION } from "../properties/modules/notes/Note.ts";
import { compositionWithNotes } from "../properties/modules/notes/WithNotes.ts";
import { Cluster, crypto } from "../properties/cluster/Cluster.ts";
import { openEnvelope, plainEnvelope, sealEnvelope } from "./EnvelopeCodec.ts";

const cluster = new Cluster(3);
const NONCE = "01".repeat(32) as Digest;
const message: Message = { _tag: "Forwarded", requestId: "r" };

beforeAll(() => cluster.pass(3_000));

const peer = (peerId: number) => {
  const driver = cluster.peers.get(peerId);
  const key = cluster.keys.get(peerId);
  if (driver === undefined || key === undefined) throw new Error("the test cluster has three peers");
  return { state: driver.state, key };
};
const sealed = (
  from: number,
  to: number,
  content: Message = message,
  signer: number | undefined = from,
): Uint8Array => {
  const bytes = sealEnvelope(peer(from).state, signer === undefined ? undefined : peer(signer).key, NONCE, to, content);
  if (bytes === undefined) throw new Error("the test expects an envelope");
  return bytes;
};
const open = (at: number, bytes: Uint8Array) => openEnvelope(crypto, peer(at).state, bytes);

describe("an envelope", () => {
  it("opens where it was sent", () => {
    expect(open(2, sealed(1, 2))).toEqual(Either.right({ from: 1, versions: commands.versions, message }));
  });

  it("does not open elsewhere, from somebody else, or in another topology", () => {
    expect(open(3, sealed(1, 2))).toEqual(Either.left("envelope.to: names another peer"));
    expect(open(2, sealed(1, 2, message, 3))).toEqual(
      Either.left("envelope.signature: does not verify for a member of this cluster"),
    );
    const strangers = new Cluster(4);
    strangers.pass(3_000);
    const [driver, key] = [strangers.peers.get(1), strangers.keys.get(1)];
    const foreign = driver && sealEnvelope(driver.state, key, NONCE, 2, message);
    expect(foreign && open(2, foreign)).toEqual(
      Either.left("envelope.topologyDigest: is not the topology of this peer"),
    );
  });

  it("opens without a signature in a session with its sender, and nowhere else", () => {
    const plain = plainEnvelope(peer(1).state, 2, message);
    if (plain === undefined) throw new Error("the test expects an envelope");
    const openOf = (at: number, member: number | undefined, bytes = plain) =>
      openEnvelope(crypto, peer(at).state, bytes, commands, member);
    expect(openOf(2, 1)).toEqual(Either.right({ from: 1, versions: commands.versions, message }));
    expect(openOf(2, 3)).toEqual(Either.left("envelope.from: is not the member of this session"));
    expect(openOf(3, 1)).toEqual(Either.left("envelope.to: names another peer"));
    expect(openOf(2, undefined)).toEqual(
      Either.left("envelope.signature: only a sealed peer's answer to a probe may go unsigned"),
    );
    // A signature is not looked at there.
    expect(Either.isRight(openOf(2, 1, sealed(1, 2, message, 3)))).toBe(true);
    expect(plainEnvelope(emptyState(crypto), 2, message)).toBeUndefined();
  });

  it("does not open after any single bit was changed", () => {
    const bytes = sealed(1, 2);
    for (let at = 0; at < bytes.length; at++) {
      const changed = bytes.slice();
      changed[at] = (changed[at] ?? 0) ^ 1;
      expect(Either.isLeft(open(2, changed)), `byte ${at}`).toBe(true);
    }
  });

  it("goes unsigned only as a sealed peer's answer to a probe", () => {
    expect(sealEnvelope(peer(1).state, undefined, NONCE, 2, message)).toBeUndefined();
    const outer = decode(signedEnvelopeCodec, sealed(1, 2));
    if (Either.isLeft(outer)) throw new Error(outer.left);
    const unsigned = encode(signedEnvelopeCodec, { ...outer.right, signature: undefined });
    expect(open(2, unsigned)).toEqual(
      Either.left("envelope.signature: only a sealed peer's answer to a probe may go unsigned"),
    );
  });

  it("says which versions its sender speaks, and goes in the newest that both do, or the oldest to a stranger", () => {
    const next = compositionWithNotes({ lowest: NEWEST, highest: NEXT_VERSION });
    const { state, key } = peer(1);
    const versionTo = (spoken: PeerState["cluster"]["spoken"]): number => {
      const bytes = sealEnvelope(changed(state, { spoken }), key, NONCE, 2, message, next);
      const outer = bytes && decode(signedEnvelopeCodec, bytes);
      if (outer === undefined || Either.isLeft(outer)) throw new Error("it is an envelope");
      expect(outer.right.versions).toEqual(next.versions);
      return outer.right.version;
    };
    expect(versionTo(new Map())).toBe(NEWEST);
    expect(versionTo(new Map([[2, next.versions]]))).toBe(NEXT_VERSION);
    expect(versionTo(new Map([[2, commands.versions]]))).toBe(NEWEST);
    expect(versionTo(new Map([[2, { lowest: 8, highest: 9 }]]))).toBe(NEWEST);
  });

  it("in a version that is not spoken here is not read, and told of only where its sender is known", () => {
    const far = compositionWithNotes({ lowest: NEXT_VERSION, highest: NEXT_VERSION });
    const { state, key } = peer(1);
    const unread = sealEnvelope(state, key, NONCE, 2, message, far);
    expect(unread && open(2, unread)).toEqual(Either.right({ from: 1, versions: far.versions, message: undefined }));
    const forged = sealEnvelope(state, peer(3).key, NONCE, 2, message, far);
    expect(forged && open(2, forged)).toEqual(Either.left(`envelope.version: ${NEXT_VERSION} is not spoken here`));
  });

  it("of another form than this program knows is refused as such", () => {
    const bytes = sealed(1, 2);
    bytes[1] = ENVELOPE_VERSION + 1;
    expect(open(2, bytes)).toEqual(
      Either.left("envelope.bytes: value: found version 2, and this program knows versions up to 1"),
    );
  });
});
