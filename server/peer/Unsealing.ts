/** The result of an unseal: the peer may be sealed again before its rows are verified. */
export type Unsealing =
  | {
      readonly _tag: "Unsealed";
      readonly integrityFault: string | undefined;
      readonly isAudited: boolean;
      /** Resolves with where one of the other rows does not hold, or with undefined. */
      readonly rest: Promise<string | undefined>;
    }
  | { readonly _tag: "SealedMeanwhile" };
