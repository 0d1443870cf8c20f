/** What members say to each other while they make a key together, or new shares of one (docs/protocol.md, Keys). */
import {
  bool,
  bytes,
  digest,
  list,
  nullable,
  record,
  text,
  type TypeOf,
  uint,
  type Variant,
} from "../../codec/Codec.ts";
import { Limits } from "../../base/Limits.ts";
import { forwardCodec } from "../../protocol/Forward.ts";
import { sinceKeys } from "../keys/Tables.ts";

const ELEMENT_CHARACTERS = 66;

/** A member's part, for all: commitments, and the proof that it knows what it commits to (none in a refresh). */
export const packageCodec = record({
  index: uint,
  commitments: list(text(ELEMENT_CHARACTERS), Limits.members),
  proof: nullable(text(256)),
  /** The key under which it is told secrets in this session. */
  boxKey: text(64),
});
export type SaidPackage = TypeOf<typeof packageCodec>;

export const keygenMessages = {
  /** The writer asks every other member to make a key for this request; it names the session. */
  "Keygen.Open": sinceKeys(
    record({
      sessionId: digest,
      evidence: forwardCodec,
      incarnations: list(uint, Limits.members),
      /** The process of the receiver that is asked: a later one may have told its part of it and lost that. */
      process: digest,
    }),
  ),
  /** Round one, to every other member; `again` asks for the receiver's own, which has not come. */
  "Keygen.Package": sinceKeys(record({ sessionId: digest, said: packageCodec, again: bool })),
  /** Round two: what one member alone is told, under the digest of all packages that the sender has. */
  "Keygen.Share": sinceKeys(record({ sessionId: digest, heard: digest, box: bytes(1024), again: bool })),
  /** To the writer: this member's share is stored, pending; the transcript is what was made. */
  "Keygen.Stored": sinceKeys(record({ sessionId: digest, transcript: digest })),
  /** The session is over without a key: why, and whose word did not hold, as far as that is known. */
  "Keygen.Ended": sinceKeys(record({ sessionId: digest, code: text(64), members: list(uint, Limits.members) })),
};
export type KeygenMessage = Variant<typeof keygenMessages>;
export type KeygenMessageOf<T extends KeygenMessage["_tag"]> = Extract<KeygenMessage, { readonly _tag: T }>;
