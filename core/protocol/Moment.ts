/**
 * When something happened by the monotonic clock of one process of a peer. Two moments of a process have an order,
 * whatever its wall clock shows meanwhile; with those of other processes they cannot be compared.
 */
import { digest, record, type TypeOf, uint } from "../codec/Codec.ts";

export const momentCodec = record({
  process: digest,
  /** Monotonic milliseconds; their zero is of no meaning. */
  at: uint,
});
export type Moment = TypeOf<typeof momentCodec>;
