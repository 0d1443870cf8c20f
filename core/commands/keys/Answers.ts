/** The answers to callers about keys. */
import type { Generation, Key } from "./KeyRecord.ts";

export type KeyAnswer =
  /** The key as every member has it now; `created` where this request has made it or its newest generation. */
  | { readonly _tag: "KeyMade"; readonly created: boolean; readonly key: Key; readonly generation: Generation }
  /** A generation, or with `final` the whole key, is destroyed at every member. */
  | { readonly _tag: "KeyDestroyed"; readonly key: Key; readonly generation: Generation }
  | {
      readonly _tag: "Signed";
      /** The type of the command. */
      readonly type: string;
      /** Hexadecimal. */
      readonly signature: string;
      readonly generation: number;
      /** Members whose share of the signature was wrong. */
      readonly imposters: ReadonlyArray<number>;
      /** The digest of the operation. */
      readonly operationId: string;
    }
  /** The generations of which this peer has its share again. */
  | { readonly _tag: "Repaired"; readonly generations: ReadonlyArray<number> };
