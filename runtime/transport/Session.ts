/**
 * What two pinned members prove to each other once for a stream, so that its messages need no signature: a key agreement
 * of fresh keys, signed by both identity keys over the names of both (ISO/IEC 9798-3; Canetti and Krawczyk 2001), and
 * from then on a MAC for each message over its place in the stream. Each direction has a key of its own.
 *
 * A session ends with the stream, and as soon as either side has another topology or no identity key in use.
 */
import { type Codec, digest, oneOf, record, signature, type TypeOf, uint } from "../../core/codec/Codec.ts";
import { utf8Bytes } from "../../core/codec/Utf8.ts";
import { writtenIn } from "../../core/codec/Versioned.ts";
import type { Crypto, Signer } from "../../core/crypto/Crypto.ts";
import type { Digest, Entropy, PublicKey } from "../../core/base/Digest.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";

/** Of the handshake and of what is sealed after it. */
export const SESSION_VERSION = 1;
const SIGNED_TAG = "CUSTODY_SESSION_V1";
const KEY_TAG = "CUSTODY_SESSION_KEY_V1";
const MESSAGE_TAG = "CUSTODY_SESSION_MESSAGE_V1";

export type Side = "opener" | "accepter";

const helloFields = {
  from: uint,
  to: uint,
  topologyDigest: digest,
  /** The public half of a fresh key for this stream. */
  ephemeral: digest,
};
export const helloCodec = writtenIn(SESSION_VERSION, record(helloFields));
export const welcomeCodec = writtenIn(SESSION_VERSION, record({ ephemeral: digest, signature }));
export const proofCodec = writtenIn(SESSION_VERSION, record({ signature }));
export type Hello = TypeOf<typeof helloCodec>;
export type Welcome = TypeOf<typeof welcomeCodec>;
export type Proof = TypeOf<typeof proofCodec>;

/** All that both sides have said, and which of them it is that signs or sends. */
const termsCodec = writtenIn(
  SESSION_VERSION,
  record({ ...helloFields, answered: digest, side: oneOf(["opener", "accepter"]) }),
);
type Terms = TypeOf<typeof termsCodec>;

/** A message as it travels in a session. */
export interface Sealed<C> {
  readonly content: C;
  readonly mac: Digest;
}

export interface SessionPorts<C> {
  readonly crypto: Crypto;
  readonly state: () => PeerState;
  /** The identity key in use; undefined while this peer is sealed. */
  readonly signer: () => Signer | undefined;
  readonly entropy: () => Entropy;
  readonly content: Codec<C>;
}

interface Agreed {
  readonly other: PeerId;
  readonly topologyDigest: Digest;
  readonly signer: Signer;
  readonly sendKey: Digest;
  readonly receiveKey: Digest;
}

const otherSide = (side: Side): Side => (side === "opener" ? "accepter" : "opener");

export class Session<C> {
  readonly #ports: SessionPorts<C>;
  readonly #side: Side;
  readonly #placed: Codec<{ readonly counter: number; readonly exchange: number; readonly content: C }>;
  #begun: { readonly hello: Hello; readonly secret: Entropy } | undefined;
  #unproven: { readonly agreed: Agreed; readonly terms: Terms } | undefined;
  #agreed: Agreed | undefined;
  #sent = 0;
  #received = 0;

  constructor(side: Side, ports: SessionPorts<C>) {
    this.#side = side;
    this.#ports = ports;
    this.#placed = record({ counter: uint, exchange: uint, content: ports.content });
  }

  /** The member at the other end, as long as it is proven and this peer may speak for itself. */
  get member(): PeerId | undefined {
    const agreed = this.#agreed;
    if (agreed === undefined) return undefined;
    const isStill =
      this.#ports.signer() === agreed.signer &&
      this.#ports.state().cluster.membership?.digest === agreed.topologyDigest;
    return isStill ? agreed.other : undefined;
  }

  /** The opener's first word; undefined while this peer has no pinned topology or no identity key in use. */
  hello(to: PeerId): Hello | undefined {
    const { crypto, state, signer, entropy } = this.#ports;
    const { peer, membership } = state().cluster;
    if (peer === undefined || signer() === undefined || membership?.keys.has(to) !== true) return undefined;
    const secret = entropy();
    const { digest: topologyDigest } = membership;
    const hello = { from: peer.peerId, to, topologyDigest, ephemeral: crypto.agreementKey(secret) };
    this.#begun = { hello, secret };
    return hello;
  }

  /** The accepter's answer; undefined where it cannot speak with this sender so. */
  welcome(hello: Hello): Welcome | undefined {
    const { crypto, state, signer: inUse, entropy } = this.#ports;
    const { peer, membership } = state().cluster;
    const signer = inUse();
    if (peer === undefined || signer === undefined || membership === undefined) return undefined;
    if (hello.to !== peer.peerId || hello.from === hello.to || !membership.keys.has(hello.from)) return undefined;
    if (hello.topologyDigest !== membership.digest) return undefined;
    const secret = entropy();
    const ephemeral = crypto.agreementKey(secret);
    const terms = { ...hello, answered: ephemeral, side: "opener" } as const;
    const agreed = this.#agree(signer, hello.from, secret, hello.ephemeral, terms);
    if (agreed === undefined) return undefined;
    this.#unproven = { agreed, terms };
    return { ephemeral, signature: signer.sign(SIGNED_TAG, termsCodec, { ...terms, side: "accepter" } as const) };
  }

  /** The opener's proof, from which on the session holds for it; undefined where not the member it called has answered. */
  prove({ ephemeral, signature: signed }: Welcome): Proof | undefined {
    const begun = this.#begun;
    const { crypto, signer: inUse } = this.#ports;
    const signer = inUse();
    this.#begun = undefined;
    if (begun === undefined || signer === undefined) return undefined;
    const { hello, secret } = begun;
    const terms = { ...hello, answered: ephemeral, side: "accepter" } as const;
    const key = this.#keyOf(hello.to);
    if (key === undefined || !crypto.verify(key, SIGNED_TAG, termsCodec, terms, signed)) return undefined;
    const agreed = this.#agree(signer, hello.to, secret, ephemeral, { ...terms, side: "opener" });
    if (agreed === undefined) return undefined;
    this.#open(agreed);
    return { signature: signer.sign(SIGNED_TAG, termsCodec, { ...terms, side: "opener" } as const) };
  }

  /** Whether the opener is who it says; the session then holds for the accepter. */
  accept({ signature: signed }: Proof): boolean {
    const unproven = this.#unproven;
    this.#unproven = undefined;
    if (unproven === undefined) return false;
    const { agreed, terms } = unproven;
    const key = this.#keyOf(agreed.other);
    if (key === undefined || !this.#ports.crypto.verify(key, SIGNED_TAG, termsCodec, terms, signed)) return false;
    this.#open(agreed);
    return true;
  }

  /** Seals the next message of this side; only while there is a {@link member}. */
  seal(exchange: number, content: C): Sealed<C> {
    const { sendKey } = this.#held();
    this.#sent += 1;
    return { content, mac: this.#mac(sendKey, this.#sent, exchange, content) };
  }

  /**
   * Whether this is the next message of the other side, of this session; whatever else it is changes nothing. A stream
   * ends with the first that is not, so nobody guesses twice.
   */
  open(exchange: number, { content, mac }: Sealed<C>): boolean {
    if (this.member === undefined) return false;
    const { receiveKey } = this.#held();
    if (this.#mac(receiveKey, this.#received + 1, exchange, content) !== mac) return false;
    this.#received += 1;
    return true;
  }

  /** The key of one direction, which everything that was said makes another one. */
  derive(shared: Uint8Array, terms: Terms): Digest {
    return this.#ports.crypto.mac(shared, KEY_TAG, termsCodec, terms);
  }

  /** What the MAC of a message is of. */
  place(counter: number, exchange: number): { readonly counter: number; readonly exchange: number } {
    return { counter, exchange };
  }

  #open(agreed: Agreed): void {
    this.#agreed = agreed;
    this.#sent = 0;
    this.#received = 0;
  }

  #held(): Agreed {
    if (this.#agreed === undefined) throw new RangeError("no session");
    return this.#agreed;
  }

  #keyOf(member: PeerId): PublicKey | undefined {
    return this.#ports.state().cluster.membership?.keys.get(member);
  }

  #agree(signer: Signer, other: PeerId, secret: Entropy, theirs: Digest, terms: Terms): Agreed | undefined {
    const shared = this.#ports.crypto.agree(secret, theirs);
    if (shared === undefined) return undefined;
    return {
      other,
      topologyDigest: terms.topologyDigest,
      signer,
      sendKey: this.derive(shared, { ...terms, side: this.#side }),
      receiveKey: this.derive(shared, { ...terms, side: otherSide(this.#side) }),
    };
  }

  #mac(key: Digest, counter: number, exchange: number, content: C): Digest {
    const placed = { ...this.place(counter, exchange), content };
    return this.#ports.crypto.mac(utf8Bytes(key), MESSAGE_TAG, this.#placed, placed);
  }
}
