/** The reports of a process that runs CommitLoop.ts, a line of JSON each. */
export type CommitReport =
  | { readonly kind: "opening"; readonly directory: string }
  /** The number of the last transaction found on the disk, and what contradicts it. */
  | {
      readonly kind: "opened";
      readonly directory: string;
      readonly last: number;
      readonly differences: ReadonlyArray<string>;
    }
  /** The store called `done` for this transaction. */
  | { readonly kind: "acknowledged"; readonly directory: string; readonly number: number };
