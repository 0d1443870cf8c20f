/** What a coordinator of signatures says, said by hand: for tests of signers whose coordinator does as it likes. */
import { utf8ToBytes } from "@noble/hashes/utils.js";
import { Encoding } from "effect";
import type { Digest } from "../../core/base/Digest.ts";
import { keyPath } from "../../core/commands/keys/KeyId.ts";
import type { SaidPackage, SignMessage, SignMessageOf } from "../../core/commands/signWithKey/SignMessages.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import { Secret } from "../../core/threshold/Secret.ts";
import type { ActorCheck } from "../../core/auth/ActorCheck.ts";
import { crypto } from "./Cluster.ts";
import { KeyedCluster, keyActor, eddsa } from "./PlantedKeys.ts";

export type Commitments = SaidPackage["commitments"][number];

export const digestOf = (name: string): Digest => crypto.sha256OfText(name);

export const signingBody = (data: Uint8Array): Uint8Array =>
  utf8ToBytes(
    JSON.stringify({
      command: {
        type: "arbitrary",
        authorityId: "arbitrary",
        artifact: { scheme: eddsa.scheme, data64: Encoding.encodeBase64(data) },
      },
    }),
  );

/** Commitments of a member to nonces that nobody else has. */
export const commitmentsOf = (index: number, seed = 7): Commitments =>
  eddsa.shared.commit(new Secret(new Uint8Array(32).fill(seed)), {
    index,
    secret: new Secret(new Uint8Array(32).fill(1)),
  });

/** A cluster whose peer 2 hears a coordinator that is played here, in the name of peer 1 unless another is named. */
export class PlayedCoordinator {
  readonly cluster = new KeyedCluster();
  /** What peer 2 has said to coordinators, in order; none of it arrives. */
  readonly said: Array<SignMessage> = [];

  constructor() {
    this.cluster.plantKey("payments");
    this.cluster.tamper = (from, _to, message) => {
      if (!message._tag.startsWith("Sign.")) return message;
      if (from === 2) this.said.push(message as SignMessage);
      return undefined;
    };
  }

  get now(): number {
    return this.cluster.now + this.cluster.clockOffset;
  }

  hear(message: SignMessage, from: PeerId = 1, judged: ActorCheck = keyActor): SignMessage | undefined {
    const before = this.said.length;
    const actors = message._tag === "Sign.Open" ? [judged] : [];
    this.cluster.dispatch(2, { _tag: "Deliver", from, message, actors });
    return this.said[before];
  }

  open(session: string, data: Uint8Array, more: Partial<SignMessageOf<"Sign.Open">> = {}): SignMessageOf<"Sign.Open"> {
    return {
      _tag: "Sign.Open",
      sessionId: digestOf(session),
      evidence: { path: keyPath("payments", "sign"), rawBody: signingBody(data), token: "token" },
      generation: 1,
      nonce: "n".repeat(32),
      timestamp: this.now,
      expiresAt: this.now + 60_000,
      ...more,
    };
  }

  /** Opens a session and returns the commitments of peer 2. */
  committed(session: string, data: Uint8Array, more: Partial<SignMessageOf<"Sign.Open">> = {}): Commitments {
    const answer = this.hear(this.open(session, data, more));
    if (answer?._tag !== "Sign.Commit") throw new Error(`peer 2 says ${JSON.stringify(answer)}`);
    return answer.commitments;
  }

  package(session: string, data: Uint8Array, commitments: ReadonlyArray<Commitments>): SignMessageOf<"Sign.Package"> {
    const item = { sessionId: digestOf(session), commitments, messageDigest: crypto.sha256(data) };
    return { _tag: "Sign.Package", items: [item] };
  }

  get consents(): number {
    return this.cluster.tables.get(2)?.get("consents")?.size ?? 0;
  }
}
