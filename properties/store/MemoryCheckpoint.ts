/** A checkpoint in memory, where a test can reach it. */
import { concatBytes } from "@noble/hashes/utils.js";
import type { CheckpointFile } from "../../runtime/Checkpoint.ts";

export class MemoryCheckpoint implements CheckpointFile {
  bytes: Uint8Array;

  constructor(bytes: Uint8Array = new Uint8Array(0)) {
    this.bytes = bytes;
  }

  readonly read = (): Uint8Array => this.bytes;

  readonly replace = (parts: ReadonlyArray<Uint8Array>): void => {
    this.bytes = concatBytes(...parts);
  };

  readonly append = (parts: ReadonlyArray<Uint8Array>): void => {
    this.bytes = concatBytes(this.bytes, ...parts);
  };
}
