/** What helpers and the member whose share is missing say to each other (docs/protocol.md, Keys; contract 10.5). */
import { bytes, digest, list, record, text, type TypeOf, uint, type Variant } from "../../codec/Codec.ts";
import { Limits } from "../../base/Limits.ts";
import { sinceKeys } from "../keys/Tables.ts";

const BOX_BYTES = 1024;
/** The longest body of a request for a repair. */
export const REPAIR_BODY_BYTES = 4 * 1024;

const boxKey = text(64);

/** The call of the operator, with the bearer token that permits it; never stored. */
const repairEvidenceCodec = record({ path: text(2048), rawBody: bytes(REPAIR_BODY_BYTES), token: text(16 * 1024) });

/** What is repaired: a generation, and what all members agreed on while it was made. */
const repairedCodec = record({ generation: uint, transcript: digest });
export type Wanted = TypeOf<typeof repairedCodec>;

/** One box for each generation of the session, in its order. */
const boxes = list(bytes(BOX_BYTES), Limits.repairedGenerations);

export const repairMessages = {
  /** The target asks its helpers; each judges the operator's call for itself. */
  "Repair.Open": sinceKeys(
    record({
      sessionId: digest,
      evidence: repairEvidenceCodec,
      generations: list(repairedCodec, Limits.repairedGenerations),
      /** The key under which the target is told the sums. */
      boxKey,
      registryRoot: digest,
    }),
  ),
  /** A helper's key of this session, from itself to every other helper: the target must not be able to change it. */
  "Repair.Key": sinceKeys(record({ sessionId: digest, boxKey })),
  /** Summands, from helper to helper, under this key of the sender. */
  "Repair.Part": sinceKeys(record({ sessionId: digest, boxKey, boxes })),
  /** A helper's sums, for the target alone. */
  "Repair.Sum": sinceKeys(record({ sessionId: digest, boxKey, boxes })),
  /** A helper does not help, or cannot go on: the code of what was found. */
  "Repair.Refused": sinceKeys(record({ sessionId: digest, code: text(64) })),
};
export type RepairMessage = Variant<typeof repairMessages>;
export type RepairMessageOf<T extends RepairMessage["_tag"]> = Extract<RepairMessage, { readonly _tag: T }>;
