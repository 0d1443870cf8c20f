/** How a peer's private keys rest on disk, and how they come back into memory. */
import type { Either } from "effect";

/** The private keys of a peer: two Ed25519 seeds (RFC 8032 5.1.5), 32 bytes each. Overwrite them when done. */
export interface KeyMaterial {
  /** Signs what this peer says to others. */
  readonly identitySeed: Uint8Array;
  /** Signs what this peer stores. */
  readonly integritySeed: Uint8Array;
}

/** Shares handed out, 2 to 255, and shares that unseal, 2 to as many. */
export interface Sharing {
  readonly shares: number;
  readonly threshold: number;
}

/** Keys at rest: the vault may be stored, the shares may not and are shown once. */
export interface SealedKeys {
  readonly vault: Uint8Array;
  readonly shares: ReadonlyArray<Uint8Array>;
}

export interface UnsealProgress {
  /** Shares accepted so far. */
  readonly have: number;
  /** Shares needed. */
  readonly need: number;
}

export type UnsealStep =
  /** `repeated`: this share was there already and was not counted again. */
  | { readonly _tag: "Collecting"; readonly progress: UnsealProgress; readonly repeated: boolean }
  | { readonly _tag: "Unsealed"; readonly material: KeyMaterial };

/** Why a share was not taken; `progress` is what remains afterwards. */
export interface ShareFault {
  readonly _tag: "ShareFault";
  readonly code: "MALFORMED_SHARE" | "FOREIGN_SHARE" | "WRONG_SHARES" | "SESSION_CLOSED";
  /** "what is wrong; what to do", without a byte of any share. */
  readonly message: string;
  readonly progress: UnsealProgress;
}

/** Collects the shares that open one vault. */
export interface UnsealSession {
  readonly progress: () => UnsealProgress;
  /** Takes one share in standard padded Base64. Never rejects. */
  readonly submit: (share64: string) => Promise<Either.Either<UnsealStep, ShareFault>>;
  /** Whether a share names this vault, which is public: nothing is said of its value, and nothing is taken. */
  readonly isOfThisSet: (share64: string) => boolean;
  /** Overwrites the shares collected so far and takes no more. */
  readonly close: () => void;
}

export interface SealProvider {
  /** As the configuration endpoint shows it (contract 2.7). */
  readonly id: string;
  /** How many shares there are, and how many unseal, where no other numbers are asked for. */
  readonly sharing: Sharing;
  /** Encrypts key material; every call makes a new vault with new shares, which open no other one. */
  readonly seal: (material: KeyMaterial, sharing: Sharing) => Promise<SealedKeys>;
  /** Begins to unseal a stored vault; Left, as "what is wrong; what to do", when its bytes are no vault. */
  readonly unseal: (vault: Uint8Array) => Either.Either<UnsealSession, string>;
}
