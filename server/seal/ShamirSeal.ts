/** The seal provider `shamir`: a random root key, split so that some number of operators together can restore it. */
import { timingSafeEqual } from "node:crypto";
import { Either } from "effect";
import { combine, split } from "shamir-secret-sharing";
import type {
  KeyMaterial,
  SealedKeys,
  SealProvider,
  ShareFault,
  Sharing,
  UnsealProgress,
  UnsealSession,
  UnsealStep,
} from "./SealProvider.ts";
import { decodeShare, encodeShare, type UnsealShare } from "./UnsealShare.ts";
import { openVault, parseVault, rootKeyBytes, sealVault, type Vault, vaultIdBytes } from "./Vault.ts";

/** Fresh random bytes. */
export type Entropy = (length: number) => Uint8Array;

const nonceBytes = 24;

const wipe = (secrets: Iterable<Uint8Array>): void => {
  for (const secret of secrets) secret.fill(0);
};

/**
 * Encrypts key material under a fresh root key and splits that key. The
 * library draws the polynomials from the system's generator by itself; `entropy`
 * gives root key, nonce and vault id.
 *
 * Rejects with a RangeError for numbers of shares or seed lengths that are out
 * of bounds: configuration and callers have checked them.
 */
export const sealKeys = async (
  material: KeyMaterial,
  { shares, threshold }: Sharing,
  entropy: Entropy,
): Promise<SealedKeys> => {
  const id = entropy(vaultIdBytes);
  const drawn = entropy(rootKeyBytes);
  // The library takes plain arrays only.
  const rootKey = Uint8Array.from(drawn);
  drawn.fill(0);
  try {
    const points = await split(rootKey, shares, threshold);
    const vault = sealVault(material, { id, nonce: entropy(nonceBytes), rootKey, shares, threshold });
    const encoded = points.map((point) => encodeShare(id, point));
    wipe(points);
    return { vault, shares: encoded };
  } finally {
    rootKey.fill(0);
  }
};

const messages: Readonly<Record<ShareFault["code"], string>> = {
  MALFORMED_SHARE: "this is not an unseal share; send the Base64 text exactly as init printed it",
  FOREIGN_SHARE:
    "this share belongs to another peer, or to another set than the one asked for: of an earlier init, of before a rekey, or of a rekey that was not finished; send one of the right set",
  WRONG_SHARES: "the shares do not fit together, so at least one is wrong; enter all of them again",
  SESSION_CLOSED: "this vault takes no more shares now; ask for the status of the peer",
};

class ShamirSession implements UnsealSession {
  readonly #vault: Vault;
  /** By coordinate: a share sent twice is one share. */
  readonly #points = new Map<number, Uint8Array>();
  #closed = false;
  /** Shares are judged one after the other, however they arrive. */
  #turn: Promise<unknown> = Promise.resolve();

  constructor(vault: Vault) {
    this.#vault = vault;
  }

  progress(): UnsealProgress {
    return { have: this.#points.size, need: this.#vault.threshold };
  }

  submit(share64: string): Promise<Either.Either<UnsealStep, ShareFault>> {
    const step = this.#turn.then(() => this.#take(share64));
    this.#turn = step;
    return step;
  }

  isOfThisSet(share64: string): boolean {
    const share = decodeShare(share64);
    share?.point.fill(0);
    return share !== undefined && timingSafeEqual(share.vaultId, this.#vault.id);
  }

  close(): void {
    this.#closed = true;
    this.#reset();
  }

  #reset(): void {
    wipe(this.#points.values());
    this.#points.clear();
  }

  #fault(code: ShareFault["code"]): Either.Either<never, ShareFault> {
    return Either.left({ _tag: "ShareFault", code, message: messages[code], progress: this.progress() });
  }

  async #take(share64: string): Promise<Either.Either<UnsealStep, ShareFault>> {
    if (this.#closed) return this.#fault("SESSION_CLOSED");
    const share = decodeShare(share64);
    if (share === undefined) return this.#fault("MALFORMED_SHARE");
    if (!timingSafeEqual(share.vaultId, this.#vault.id)) return this.#fault("FOREIGN_SHARE");
    const known = this.#add(share);
    if (known === "other") {
      this.#reset();
      return this.#fault("WRONG_SHARES");
    }
    if (this.#points.size < this.#vault.threshold) {
      return Either.right({ _tag: "Collecting", progress: this.progress(), repeated: known === "same" });
    }
    return this.#open();
  }

  /** Whether the coordinate was taken already, and by the same share or another one. */
  #add({ point }: UnsealShare): "new" | "same" | "other" {
    const coordinate = point.at(-1) ?? 0;
    const held = this.#points.get(coordinate);
    if (held === undefined) {
      this.#points.set(coordinate, point);
      return "new";
    }
    const same = timingSafeEqual(held, point);
    point.fill(0);
    return same ? "same" : "other";
  }

  async #open(): Promise<Either.Either<UnsealStep, ShareFault>> {
    const rootKey = await combine([...this.#points.values()]);
    const material = openVault(this.#vault, rootKey);
    rootKey.fill(0);
    this.#reset();
    if (material === undefined) return this.#fault("WRONG_SHARES");
    if (this.#closed) {
      wipe([material.identitySeed, material.integritySeed]);
      return this.#fault("SESSION_CLOSED");
    }
    this.#closed = true;
    return Either.right({ _tag: "Unsealed", material });
  }
}

/** The provider for a configuration; a stored vault keeps the numbers it was sealed with. */
export const shamirProvider = (options: Sharing, entropy: Entropy): SealProvider => ({
  id: "shamir",
  sharing: options,
  seal: (material, sharing) => sealKeys(material, sharing, entropy),
  unseal: (vault) => Either.map(parseVault(vault), (parsed) => new ShamirSession(parsed)),
});
