/**
 * Init, unseal and seal as an operator asks for them, one at a time. Private keys
 * are made here, leave only inside the vault, and are overwritten when done.
 */
import { randomBytes } from "node:crypto";
import { Either } from "effect";
import { sealState, type SealState } from "../../core/Status.ts";
import { type Rejection, rejection } from "../../core/Rejection.ts";
import { IntegrityFailure } from "../../runtime/PeerStore.ts";
import type { Verified } from "../../runtime/SealedStore.ts";
import type { CryptoBackend } from "../crypto/CryptoBackend.ts";
import type { KeyMaterial, SealProvider, ShareFault, UnsealProgress, UnsealSession } from "../seal/SealProvider.ts";
import type { Log } from "./Log.ts";
import type { Operation } from "./Operation.ts";
import type { Initialization, Peer } from "./Peer.ts";

export interface SealControlPorts {
  readonly peer: Peer;
  readonly provider: SealProvider;
  readonly backend: CryptoBackend;
  /** Shares that unseal, as configured. */
  readonly sharesNeeded: number;
  readonly log: Log;
}

/** Shown once: whoever holds `sharesNeeded` of the shares (standard Base64) can unseal. */
export interface Initialized extends Initialization {
  readonly shares64: ReadonlyArray<string>;
  readonly sharesNeeded: number;
}

export interface UnsealAnswer extends UnsealProgress {
  readonly state: SealState;
  /** How far the verification of what is stored is; absent once it has ended. */
  readonly verifying?: Verified;
}

const seedBytes = 32;

const wipe = ({ identitySeed, integritySeed }: KeyMaterial): void => {
  identitySeed.fill(0);
  integritySeed.fill(0);
};

const freshSeed = (): Uint8Array => Uint8Array.from(randomBytes(seedBytes));

const integrityRefusal = (detail: string): Rejection =>
  rejection("INTEGRITY_FAILURE", detail, "Restore this peer from its backup; the other peers are not affected.");

const notInitialized = rejection("NOT_INITIALIZED", "This peer is not initialized.", "Initialize it first.");

export class SealControl {
  readonly #ports: SealControlPorts;
  #session: UnsealSession | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(ports: SealControlPorts) {
    this.#ports = ports;
  }

  /** Left: `ALREADY_INITIALIZED` after the first unseal, or what does not fit about the numbers. */
  initialize(numbers: Initialization): Promise<Either.Either<Initialized, Rejection>> {
    return this.#inTurn(() => this.#initialize(numbers));
  }

  /** Takes one share. Left: what is wrong with this share or with what it opens. */
  unseal(share64: string, operation?: Operation): Promise<Either.Either<UnsealAnswer, Rejection | ShareFault>> {
    return this.#inTurn(() => this.#unseal(share64, operation));
  }

  /** Seals; a sealed peer stays so. Left: `NOT_INITIALIZED`. */
  seal(operation: Operation): Promise<Either.Either<SealState, Rejection>> {
    return this.#inTurn(async () => {
      const { peer, log } = this.#ports;
      if (peer.state.peer === undefined) return Either.left(notInitialized);
      this.#forgetShares();
      if (peer.state.unsealed || peer.verifying !== undefined) {
        await peer.seal(operation);
        log.info("sealed");
      }
      return Either.right(sealState(peer.state));
    });
  }

  /** Gives the unsealed peer a new integrity key. Right: its version. Left: `NOT_INITIALIZED`, `SEALED`, `INTEGRITY_FAILURE`. */
  rotateIntegrity(operation: Operation): Promise<Either.Either<number, Rejection>> {
    return this.#inTurn(async () => {
      const { peer, log } = this.#ports;
      if (peer.state.peer === undefined) return Either.left(notInitialized);
      const seed = freshSeed();
      const answer = await peer.rotateIntegrity(seed, operation);
      seed.fill(0);
      if (answer._tag === "Rejected") return Either.left(answer.rejection);
      log.info("integrity key rotated", { version: peer.state.integrityVersion });
      return Either.right(peer.state.integrityVersion);
    });
  }

  #inTurn<A>(run: () => Promise<A>): Promise<A> {
    const result = this.#turn.then(run);
    // Whoever asked hears of a failure; the next one in line is not concerned.
    this.#turn = result.catch(() => undefined);
    return result;
  }

  #forgetShares(): void {
    this.#session?.close();
    this.#session = undefined;
  }

  async #initialize(numbers: Initialization): Promise<Either.Either<Initialized, Rejection>> {
    const { peer, provider, backend, sharesNeeded, log } = this.#ports;
    const material = { identitySeed: freshSeed(), integritySeed: freshSeed() };
    const { vault, shares } = await provider.seal(material);
    const keys = backend.keysOf(material);
    wipe(material);
    const answer = await peer.initialize(keys, vault, numbers);
    const shares64 = shares.map((share) => Buffer.from(share).toString("base64"));
    for (const share of shares) share.fill(0);
    if (answer._tag === "Rejected") return Either.left(answer.rejection);
    this.#forgetShares();
    log.info("initialized", { peerId: numbers.peerId, threshold: numbers.threshold, total: numbers.total });
    return Either.right({ ...numbers, shares64, sharesNeeded });
  }

  async #unseal(share64: string, operation?: Operation): Promise<Either.Either<UnsealAnswer, Rejection | ShareFault>> {
    const { peer } = this.#ports;
    if (peer.state.unsealed || peer.verifying !== undefined) {
      operation?.tell("ACCEPTED", "the peer was unsealed already");
      return Either.right({ state: "UNSEALED", have: 0, need: 0, ...this.#verifying() });
    }
    const session = this.#openSession();
    if (Either.isLeft(session)) return Either.left(session.left);
    const { need } = session.right.progress();
    const step = await session.right.submit(share64);
    if (Either.isLeft(step)) return Either.left(step.left);
    if (step.right._tag === "Collecting") {
      const { have } = step.right.progress;
      operation?.tell("ACCEPTED", `${have} of ${need} shares are in`);
      return Either.right({ state: sealState(peer.state), have, need });
    }
    this.#session = undefined;
    operation?.tell("APPLIED", `unsealed with ${need} shares`);
    return this.#use(step.right.material, need, operation);
  }

  #openSession(): Either.Either<UnsealSession, Rejection> {
    if (this.#session !== undefined) return Either.right(this.#session);
    try {
      const vault = this.#ports.peer.vault();
      if (vault === undefined) return Either.left(notInitialized);
      const session = Either.mapLeft(this.#ports.provider.unseal(vault), (message) =>
        integrityRefusal(`The vault cannot be opened: ${message}.`),
      );
      this.#session = Either.getOrUndefined(session);
      return session;
    } catch (fault) {
      if (!(fault instanceof IntegrityFailure)) throw fault;
      return Either.left(integrityRefusal("The vault's row does not hold."));
    }
  }

  async #use(
    material: KeyMaterial,
    need: number,
    operation?: Operation,
  ): Promise<Either.Either<UnsealAnswer, Rejection>> {
    const { peer, backend, log } = this.#ports;
    const keys = backend.keysOf(material);
    wipe(material);
    const row = peer.state.peer;
    if (row?.integrityKey !== keys.integrity.publicKey || row.identityKey !== keys.identity.publicKey)
      return Either.left(integrityRefusal("The vault holds other keys than this peer was initialized with."));
    const { begun, end } = peer.unseal(keys, operation?.act);
    const told = end.then((came) => {
      if (came._tag === "SealedMeanwhile") return;
      if (came.integrityFault !== undefined) log.error("integrity lost", { where: came.integrityFault });
      log.info("unsealed", { peerId: row.peerId });
      if (came.isAudited) operation?.written();
    });
    await Promise.race([told, begun]);
    const verifying = this.#verifying();
    if (verifying !== undefined) {
      // What was asked for is recorded before the answer; that it came about, with the unseal.
      operation?.tell("ACCEPTED", `${need} of ${need} shares are in, and what is stored is being verified`);
      log.info("verifying", { rows: verifying.verifying.of });
      return Either.right({ state: "UNSEALED", have: need, need, ...verifying });
    }
    await told;
    if (!peer.state.unsealed)
      return Either.left(integrityRefusal("The stored rows do not hold, so this peer cannot begin its work."));
    return Either.right({ state: sealState(peer.state), have: need, need });
  }

  #verifying(): { readonly verifying: Verified } | undefined {
    const { verifying } = this.#ports.peer;
    return verifying === undefined ? undefined : { verifying };
  }
}
