/** The messages between members about sessions. */
import { bytes, digest, list, record, text, type TypeOf, type Variant } from "../../codec/Codec.ts";
import { coded } from "../../codec/Coded.ts";
import { kept } from "../../codec/Versioned.ts";
import { Limits } from "../../base/Limits.ts";
import { forwardCodec } from "../../protocol/Forward.ts";
import { batch } from "../../protocol/Message.ts";
import { signedStatementCodec } from "../../protocol/Statement.ts";
import { sessionCodec } from "./Session.ts";

const mirrorItemCodec = record({ session: sessionCodec, evidence: forwardCodec });
export type MirrorItem = TypeOf<typeof mirrorItemCodec>;

export const sessionMessages = {
  /** The writer asks every other member to keep these sessions, each with the request that it was made for. */
  "Session.Mirror": record({ items: batch(mirrorItemCodec) }),
  /** Sessions kept, and sessions not kept with the code of the check that failed. A refusal binds nobody. */
  "Session.Votes": record({
    acks: batch(signedStatementCodec),
    refusals: batch(record({ sessionDigest: digest, code: text(64) })),
  }),
};
export type SessionMessage = Variant<typeof sessionMessages>;
export type SessionMessageOf<T extends SessionMessage["_tag"]> = Extract<SessionMessage, { readonly _tag: T }>;

/** The writer's answer to a request for options. */
const offeredCodec = kept(
  record({
    session: sessionCodec,
    /** The secret, which only the registrar is told. */
    invitation: bytes(Limits.challengeBytes),
    /** Every member's acknowledgement of the session. */
    acks: list(signedStatementCodec, Limits.members),
  }),
);
export type Offered = TypeOf<typeof offeredCodec>;
export const offers = coded(offeredCodec);
