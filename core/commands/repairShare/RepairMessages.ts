/** What helpers and the member whose share is missing say to each other (docs/protocol.md, Keys; contract 10.5). */
import { bytes, digest, list, record, text, uint, type Variant } from "../../codec/Codec.ts";
import { Limits } from "../../base/Limits.ts";
import { sinceKeys } from "../keys/Tables.ts";

export const repairMessages = {
  /** The target asks its helpers; each judges the operator's token for itself. */
  "Repair.Open": sinceKeys(
    record({
      sessionId: digest,
      keyId: text(Limits.keyIdCharacters),
      generation: uint,
      helpers: list(uint, Limits.members),
      /** The key under which the target is told the sums. */
      boxKey: text(64),
      token: text(16 * 1024),
      registryRoot: digest,
    }),
  ),
  /** A helper's key of this session, to every other helper and the target. */
  "Repair.Key": sinceKeys(record({ sessionId: digest, boxKey: text(64) })),
  /** One summand, from helper to helper. */
  "Repair.Part": sinceKeys(record({ sessionId: digest, box: bytes(1024) })),
  /** A helper's sum, for the target alone. */
  "Repair.Sum": sinceKeys(record({ sessionId: digest, box: bytes(1024) })),
  "Repair.Refused": sinceKeys(record({ sessionId: digest, code: text(64), detail: text(1024) })),
};
export type RepairMessage = Variant<typeof repairMessages>;
export type RepairMessageOf<T extends RepairMessage["_tag"]> = Extract<RepairMessage, { readonly _tag: T }>;
