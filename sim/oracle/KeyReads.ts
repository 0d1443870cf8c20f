/** What callers ask of keys where nothing is changed, and what they are answered. */
import type { RejectionCode } from "../../core/base/Rejection.ts";
import type { Rows } from "../../core/Tables.ts";
import type { Grants } from "../requests/Grants.ts";

type Key = Rows["custodyKeys"];

/** What somebody may sign with, behind a key; who asks is known where there are grants. */
export interface IdentitiesAsked {
  readonly _tag: "Identities";
  readonly grants: Grants | undefined;
  readonly after: string;
  readonly limit: number;
}

/** What commands of an authority look like. */
export interface AuthorityAsked {
  readonly _tag: "Authority";
  readonly grants: Grants | undefined;
  readonly keyId: string;
  readonly authorityId: string;
}

export interface KeysAsked {
  /** What it names as an owner is none. */
  readonly isBroken?: true;
  readonly _tag: "Keys";
  readonly filter: { readonly assetOwner: string | undefined; readonly status: Key["status"] | undefined };
  /** As it came with a page; absent for the first one. */
  readonly cursor: string | undefined;
  readonly limit: number;
}

/** A key, of a generation or of its newest. */
export interface KeyAsked {
  readonly _tag: "Key";
  readonly keyId: string;
  readonly generation: number | undefined;
}

export type KeyReadAsked = IdentitiesAsked | AuthorityAsked | KeysAsked | KeyAsked;

/** The answers are compared as texts: what a caller would be shown, each with the key that it is about. */
export interface Shown {
  readonly keyId: string;
  readonly text: string;
}

export type KeyReadAnswer =
  | {
      readonly _tag: "Page";
      readonly items: ReadonlyArray<Shown>;
      /** The key behind which the next page begins. */
      readonly next: string | undefined;
      /** What asks for that page, where it is not the key itself. */
      readonly cursor?: string;
    }
  | { readonly _tag: "QueryRefused" }
  | { readonly _tag: "One"; readonly text: string }
  | { readonly _tag: "Refused"; readonly code: RejectionCode };

export const identityText = (
  { algorithm }: Pick<Key, "algorithm">,
  { generation, authorities }: Pick<Rows["generations"], "generation" | "authorities">,
): string => `${algorithm}, generation ${generation}, ${authorities.join()}`;

export const keyText = (key: Key, generation: Rows["generations"], health: string): string =>
  `${JSON.stringify(key)} ${JSON.stringify(generation)} ${health}`;
