/**
 * One decided slot as it travels to a restored member. Nothing in it has to be
 * believed: an applied proposal comes with its certificate, an aborted one with
 * the writer's receipt, which shows at least that the slot was used for it.
 */
import { digest, nullable, record, text, type TypeOf } from "../codec/Codec.ts";
import { certificateCodec } from "./Certificate.ts";
import { signedStatementCodec } from "./Statement.ts";

export const snapshotItemCodec = record({
  /** As `slotKey` makes it. */
  key: text(64),
  proposalId: digest,
  /** Present exactly where it was applied. */
  certificate: nullable(certificateCodec),
  /** Present exactly where it was aborted. */
  writerReceipt: nullable(signedStatementCodec),
});
export type SnapshotItem = TypeOf<typeof snapshotItemCodec>;
