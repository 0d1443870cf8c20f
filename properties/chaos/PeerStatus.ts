/** What a run asks of a peer's status. */
import { Schema } from "effect";

const Status = Schema.parseJson(
  Schema.Struct({
    state: Schema.String,
    detail: Schema.optional(
      Schema.Struct({
        uncommitted: Schema.Number,
        locks: Schema.Number,
        outbox: Schema.Number,
        waiting: Schema.Number,
        identityKey: Schema.String,
        quarantine: Schema.optional(Schema.String),
      }),
    ),
  }),
);

export const decodeStatus = Schema.decodeEither(Status);

export type PeerStatus = typeof Status.Type;
