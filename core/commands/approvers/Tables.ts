/** The approvers, who owns which key, and the index of approvers. */
import { nullable, record, text } from "../../codec/Codec.ts";
import { Limits } from "../../base/Limits.ts";
import { type RowView, type RowsOf, type View, viewOf } from "../../protocol/Tables.ts";
import { approverCodec, observationsCodec } from "./Approver.ts";

export const approverTables = {
  /** By ref. */
  approvers: approverCodec,
  /** The owner of a key, whatever format it was registered in. */
  keys: record({ id: text(Limits.approverIdCharacters) }),
  /** The observations about an approver's authenticator, by ref; they are no part of the ref (contract 2.3). */
  observations: observationsCodec,
  /** The index (Terms.ts): a term's digest and a ref. */
  terms: record({}),
  /** How far the index is: the last ref in it, absent where it is whole. */
  indexed: record({ upTo: nullable(text(256)) }),
};

export const approverRows = (view: RowView): View<RowsOf<typeof approverTables>> => viewOf(view, approverTables);
