/**
 * New unseal shares for the keys that a peer has, in two steps. First the present shares are collected; from the keys
 * they open a new vault is made, with new shares. Then those are asked for: only when enough of them have opened the
 * new vault is it stored, and the present shares open nothing any more. An end before that, by a crash or a lost
 * answer, leaves the present shares as they were.
 */
import { Either } from "effect";
import type { Rejection } from "../../core/base/Rejection.ts";
import type { KeyMaterial, SealProvider, ShareFault, Sharing, UnsealSession } from "../seal/SealProvider.ts";

export type RekeyStep = "NONE" | "PRESENT_SHARES" | "NEW_SHARES" | "DONE";

/** How far a rekey is: shares of the present step that are in, and that are needed. */
export interface RekeyProgress {
  readonly step: RekeyStep;
  readonly have: number;
  readonly need: number;
}

export type RekeyTaken =
  | { readonly _tag: "Collecting" }
  /** The new shares, shown once; overwrite them afterwards. */
  | { readonly _tag: "NewShares"; readonly shares: ReadonlyArray<Uint8Array> }
  /** The vault to store. */
  | { readonly _tag: "Confirmed"; readonly vault: Uint8Array };

/** Why a rekey does not go on, beside faults of a share. */
export type RekeyFault = { readonly _tag: "RekeyFault"; readonly message: string; readonly next: string };

const notStarted: RekeyFault = {
  _tag: "RekeyFault",
  message: "No rekey is under way, and this share is not of the set that unseals this peer.",
  next: "Start one; after a restart or a seal it begins anew, with the present shares.",
};

const inUse: RekeyFault = {
  _tag: "RekeyFault",
  message: "No rekey is under way, and this share is of the set that unseals this peer.",
  next: "Keep it. If it came with the last rekey, that is done, and the shares before it unseal this peer no more.",
};

/** The last vault that was confirmed to this process: whoever lost the answer may ask again. */
export interface Confirmed {
  readonly vault: Uint8Array;
  readonly sharing: Sharing;
  /** What its holder was told, where it was not written in time and may still be. */
  readonly unknown: Rejection | undefined;
}

/**
 * What a share means where no rekey is under way: its holder may have lost the last answer of one that is done, or have
 * been told that nobody knows yet.
 *
 * @param stored the vault that unseals the peer now
 * @returns how the last rekey shares the keys, where it is done and the share is of it
 */
export const afterRekey = (
  provider: Pick<SealProvider, "unseal">,
  stored: { readonly vault: Uint8Array | undefined; readonly session: UnsealSession },
  confirmed: Confirmed | undefined,
  share64: string,
): Either.Either<Sharing, Rejection | RekeyFault> => {
  const isDone = confirmed !== undefined && Buffer.from(stored.vault ?? []).equals(confirmed.vault);
  const isOfStored = stored.session.isOfThisSet(share64);
  // Either set may be the one that unseals the peer a moment later.
  if (confirmed?.unknown !== undefined && !isDone) {
    const made = provider.unseal(confirmed.vault);
    if (isOfStored || (Either.isRight(made) && made.right.isOfThisSet(share64))) return Either.left(confirmed.unknown);
  }
  if (!isOfStored) return Either.left(notStarted);
  // Else the present shares may as well be those that a rekey was to replace.
  return isDone ? Either.right(confirmed.sharing) : Either.left(inUse);
};

const wipe = ({ identitySeed, integritySeed }: KeyMaterial): void => {
  identitySeed.fill(0);
  integritySeed.fill(0);
};

const vaultFault = (message: string): ShareFault => ({
  _tag: "ShareFault",
  code: "SESSION_CLOSED",
  message,
  progress: { have: 0, need: 0 },
});

export class Rekeying {
  readonly #provider: SealProvider;
  readonly #sharing: Sharing;
  readonly #areOurs: (material: KeyMaterial) => boolean;
  #session: UnsealSession;
  #vault: Uint8Array | undefined;

  /**
   * @param present collects shares of the stored vault
   * @param areOurs whether keys are those that the peer has in use
   */
  constructor(
    provider: SealProvider,
    sharing: Sharing,
    present: UnsealSession,
    areOurs: (material: KeyMaterial) => boolean,
  ) {
    this.#provider = provider;
    this.#sharing = sharing;
    this.#session = present;
    this.#areOurs = areOurs;
  }

  get sharing(): Sharing {
    return this.#sharing;
  }

  get progress(): RekeyProgress {
    return { step: this.#vault === undefined ? "PRESENT_SHARES" : "NEW_SHARES", ...this.#session.progress() };
  }

  /** Takes one share of the step that is under way. */
  async take(share64: string): Promise<Either.Either<RekeyTaken, ShareFault>> {
    const step = await this.#session.submit(share64);
    if (Either.isLeft(step)) return Either.left(step.left);
    if (step.right._tag === "Collecting") return Either.right({ _tag: "Collecting" });
    const { material } = step.right;
    try {
      if (!this.#areOurs(material))
        return Either.left(vaultFault("the vault holds other keys than this peer has in use"));
      if (this.#vault !== undefined) return Either.right({ _tag: "Confirmed", vault: this.#vault });
      const { vault, shares } = await this.#provider.seal(material, this.#sharing);
      const session = this.#provider.unseal(vault);
      if (Either.isLeft(session)) return Either.left(vaultFault(session.left));
      this.#session = session.right;
      this.#vault = vault;
      return Either.right({ _tag: "NewShares", shares });
    } finally {
      wipe(material);
    }
  }

  /** Overwrites what was collected. */
  close(): void {
    this.#session.close();
  }
}
