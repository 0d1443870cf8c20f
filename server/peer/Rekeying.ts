/**
 * New unseal shares for the keys that a peer has, in two steps. First the present shares are collected; from the keys
 * they open a new vault is made, with new shares. Then those are asked for: only when enough of them have opened the
 * new vault is it stored, and the present shares open nothing any more. An end before that, by a crash or a lost
 * answer, leaves the present shares as they were.
 */
import { Either } from "effect";
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
