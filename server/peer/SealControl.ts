/**
 * Init, unseal and seal as an operator asks for them, one at a time. Private keys
 * are made here, leave only inside the vault, and are overwritten when done.
 */
import { randomBytes } from "node:crypto";
import { Either } from "effect";
import { sealState, type SealState } from "../../core/protocol/Status.ts";
import { type Rejection, rejection } from "../../core/base/Rejection.ts";
import { sealed } from "../../core/protocol/Unavailable.ts";
import { IntegrityFailure } from "../../runtime/PeerStore.ts";
import type { Verified } from "../../runtime/RowSum.ts";
import type { CryptoBackend } from "../crypto/CryptoBackend.ts";
import { type NewShares, newShares, type Recipient } from "../seal/Recipients.ts";
import type {
  KeyMaterial,
  SealProvider,
  ShareFault,
  Sharing,
  UnsealProgress,
  UnsealSession,
} from "../seal/SealProvider.ts";
import { beingInitialized } from "./FreshStart.ts";
import type { Log } from "./Log.ts";
import type { Later, Operation } from "./Operation.ts";
import { afterRekey, type Confirmed, type RekeyFault, Rekeying, type RekeyProgress } from "./Rekeying.ts";
import type { Peer } from "./Peer.ts";
import type { Initialization } from "./PeerPorts.ts";

export interface SealControlPorts {
  readonly peer: Peer;
  readonly provider: SealProvider;
  readonly backend: CryptoBackend;
  readonly log: Log;
}

/** Any `sharesNeeded` of the shares can unseal. */
export type Initialized = Initialization & NewShares & { readonly sharesNeeded: number };

/** The vault that a rekey is to make; without numbers those of the configuration. */
export interface RekeyWish {
  readonly sharing: Sharing | undefined;
  readonly recipients: ReadonlyArray<Recipient>;
}

export type RekeyAnswer = RekeyProgress & Partial<Sharing> & (NewShares | object);

export interface UnsealAnswer extends UnsealProgress {
  readonly state: SealState;
  /** How far the verification of stored rows is; absent once it has ended. */
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

const rowsDoNotHold = integrityRefusal("The stored rows do not hold, so this peer cannot begin its work.");

const notInitialized = rejection("NOT_INITIALIZED", "This peer is not initialized.", "Initialize it first.");

const underWay: RekeyFault = {
  _tag: "RekeyFault",
  message: "A rekey is under way already.",
  next: "Go on with it, or give it up first.",
};

const rekeyedBy = ({ shares, threshold }: Sharing): RekeyAnswer => ({
  step: "DONE",
  have: threshold,
  need: threshold,
  shares,
  threshold,
});

export class SealControl {
  readonly #ports: SealControlPorts;
  #session: UnsealSession | undefined;
  #rekeying: Rekeying | undefined;
  #recipients: ReadonlyArray<Recipient> = [];
  #confirmed: Confirmed | undefined;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(ports: SealControlPorts) {
    this.#ports = ports;
  }

  /** Left: `ALREADY_INITIALIZED` after the first unseal, or which numbers do not fit. */
  initialize(
    numbers: Initialization,
    recipients: ReadonlyArray<Recipient> = [],
  ): Promise<Either.Either<Initialized, Rejection>> {
    return this.#inTurn(() => this.#initialize(numbers, recipients));
  }

  /** How keys are shared where no other numbers are asked for. */
  get sharing(): Sharing {
    return this.#ports.provider.sharing;
  }

  /** Shares that are in and shares needed, at a sealed peer; undefined elsewhere, or where its vault is unreadable. */
  get progress(): UnsealProgress | undefined {
    const { peer } = this.#ports;
    if (peer.state.cluster.peer === undefined || peer.state.fitness.unsealed || peer.verifying !== undefined)
      return undefined;
    return Either.getOrUndefined(this.#openSession())?.progress();
  }

  /** Forgets the shares that were handed in. Left: `NOT_INITIALIZED`, `INTEGRITY_FAILURE`. */
  resetUnseal(operation: Operation): Promise<Either.Either<UnsealAnswer, Rejection>> {
    return this.#inTurn(() => {
      const { peer } = this.#ports;
      const have = this.#session?.progress().have ?? 0;
      this.#forgetShares();
      operation.tell("ACCEPTED", `${have} shares are forgotten`);
      if (peer.state.fitness.unsealed || peer.verifying !== undefined)
        return Promise.resolve(Either.right({ state: "UNSEALED", have: 0, need: 0 }));
      const state = sealState(peer.state);
      return Promise.resolve(Either.map(this.#openSession(), (session) => ({ state, ...session.progress() })));
    });
  }

  /** How far a rekey is; where none is under way `step` is `NONE`. */
  get rekeyProgress(): RekeyProgress {
    return this.#rekeying?.progress ?? { step: "NONE", have: 0, need: 0 };
  }

  /** Begins to make new shares for the keys that are in use. */
  startRekey(
    { sharing, recipients }: RekeyWish,
    operation: Operation,
  ): Promise<Either.Either<RekeyAnswer, Rejection | RekeyFault>> {
    return this.#inTurn(async (): Promise<Either.Either<RekeyAnswer, Rejection | RekeyFault>> => {
      const { peer, provider, backend } = this.#ports;
      const row = peer.state.cluster.peer;
      if (row === undefined) return Either.left(notInitialized);
      if (!peer.state.fitness.unsealed) return Either.left(sealed);
      if (this.#rekeying !== undefined) return Either.left(underWay);
      const present = this.#newSession();
      if (Either.isLeft(present)) return Either.left(present.left);
      this.#recipients = recipients;
      this.#rekeying = new Rekeying(provider, sharing ?? provider.sharing, present.right, (material) => {
        const { integrity, identity } = backend.keysOf(material);
        return row.integrityKey === integrity.publicKey && row.identityKey === identity.publicKey;
      });
      const { shares, threshold } = this.#rekeying.sharing;
      operation.tell("ACCEPTED", `started: ${threshold} of ${shares} new shares`);
      return Either.right({ ...this.rekeyProgress, shares, threshold });
    });
  }

  /** Takes one share for the rekey under way: a present one, then new ones to confirm that they are in good hands. */
  rekey(
    share64: string,
    operation: Operation,
  ): Promise<Either.Either<RekeyAnswer, Rejection | RekeyFault | ShareFault>> {
    return this.#inTurn(() => this.#rekey(share64, operation));
  }

  /** Gives up a rekey; the present shares stay as they are. */
  resetRekey(operation: Operation): Promise<RekeyAnswer> {
    return this.#inTurn(() => {
      this.#forgetRekey();
      operation.tell("ACCEPTED", "given up");
      return Promise.resolve(this.rekeyProgress);
    });
  }

  /** Takes one share. Left: what is wrong with this share or with what it opens. */
  unseal(share64: string, operation?: Operation): Promise<Either.Either<UnsealAnswer, Rejection | ShareFault>> {
    return this.#inTurn(() => this.#unseal(share64, operation));
  }

  /** Seals; a sealed peer stays so. Left: `NOT_INITIALIZED`. */
  seal(operation: Operation): Promise<Either.Either<SealState, Rejection>> {
    return this.#inTurn(async () => {
      const { peer, log } = this.#ports;
      if (peer.state.cluster.peer === undefined) return Either.left(notInitialized);
      this.#forgetShares();
      this.#forgetRekey();
      if (peer.state.fitness.unsealed || peer.verifying !== undefined) {
        await peer.seal(operation);
        // Whatever was to be written before is, or never will be: a share tells by its set alone.
        if (this.#confirmed?.unknown !== undefined) this.#confirmed = undefined;
        log.info("sealed");
      }
      return Either.right(sealState(peer.state));
    });
  }

  /** Gives the unsealed peer a new integrity key. Right: its version. Left: `NOT_INITIALIZED`, `SEALED`, `INTEGRITY_FAILURE`. */
  rotateIntegrity(operation: Operation): Promise<Either.Either<number, Rejection>> {
    return this.#inTurn(async () => {
      const { peer, log } = this.#ports;
      if (peer.state.cluster.peer === undefined) return Either.left(notInitialized);
      const seed = freshSeed();
      const answer = await peer.rotateIntegrity(seed, operation);
      seed.fill(0);
      if (answer._tag === "Rejected") return Either.left(answer.rejection);
      log.info("integrity key rotated", { version: peer.state.fitness.integrityVersion });
      return Either.right(peer.state.fitness.integrityVersion);
    });
  }

  #inTurn<A>(run: () => Promise<A>): Promise<A> {
    const result = this.#turn.then(run);
    // The caller hears of a failure; the next one in the queue is not affected.
    this.#turn = result.catch(() => undefined);
    return result;
  }

  #forgetShares(): void {
    this.#session?.close();
    this.#session = undefined;
  }

  #forgetRekey(): void {
    this.#rekeying?.close();
    this.#rekeying = undefined;
    this.#recipients = [];
  }

  async #rekey(
    share64: string,
    operation: Operation,
  ): Promise<Either.Either<RekeyAnswer, Rejection | RekeyFault | ShareFault>> {
    const { peer, log } = this.#ports;
    const rekeying = this.#rekeying;
    if (rekeying === undefined) return this.#rekeyed(share64, operation);
    const taken = await rekeying.take(share64);
    if (Either.isLeft(taken)) return Either.left(taken.left);
    const { shares, threshold } = rekeying.sharing;
    const { step, have, need } = rekeying.progress;
    switch (taken.right._tag) {
      case "Collecting": {
        operation.tell("ACCEPTED", `${have} of ${need} ${step === "NEW_SHARES" ? "new" : "present"} shares are in`);
        return Either.right({ step, have, need, shares, threshold });
      }
      case "NewShares": {
        const shown = await newShares(taken.right.shares, this.#recipients);
        operation.tell("ACCEPTED", "new shares are made, and not in use before they are confirmed");
        return Either.right({ step, have, need, shares, threshold, ...shown });
      }
      case "Confirmed": {
        operation.tell("APPLIED", `${threshold} of ${shares} new shares unseal from now on`);
        const { vault } = taken.right;
        const answer = await peer.rekey(vault, operation);
        this.#forgetRekey();
        this.#forgetShares();
        const unknown = answer._tag === "Rejected" ? answer.rejection : undefined;
        if (unknown?.outcomeUnknown !== false) this.#confirmed = { vault, sharing: rekeying.sharing, unknown };
        if (answer._tag === "Rejected") return Either.left(answer.rejection);
        log.info("rekeyed", { shares, threshold });
        return Either.right(rekeyedBy(rekeying.sharing));
      }
    }
  }

  /** The answer to a share where no rekey is under way. */
  #rekeyed(share64: string, operation: Operation): Either.Either<RekeyAnswer, Rejection | RekeyFault> {
    const session = this.#newSession();
    if (Either.isLeft(session)) return Either.left(session.left);
    const { peer, provider } = this.#ports;
    const stored = { vault: peer.vault(), session: session.right };
    return Either.map(afterRekey(provider, stored, this.#confirmed, share64), (sharing) => {
      operation.tell("ACCEPTED", "the rekey was done already");
      return rekeyedBy(sharing);
    });
  }

  async #initialize(
    numbers: Initialization,
    recipients: ReadonlyArray<Recipient>,
  ): Promise<Either.Either<Initialized, Rejection>> {
    const { peer, provider, backend, log } = this.#ports;
    const material = { identitySeed: freshSeed(), integritySeed: freshSeed() };
    const { vault, shares } = await provider.seal(material, provider.sharing);
    const keys = backend.keysOf(material);
    wipe(material);
    const answer = await peer.initialize(keys, vault, numbers);
    // Of a vault that is replaced, though it may be later than the answer.
    if (answer._tag !== "Rejected" || peer.isInitializing) this.#forgetShares();
    const shown = await newShares(shares, recipients);
    if (answer._tag === "Rejected") return Either.left(answer.rejection);
    log.info("initialized", { peerId: numbers.peerId, threshold: numbers.threshold, total: numbers.total });
    return Either.right({ ...numbers, ...shown, sharesNeeded: provider.sharing.threshold });
  }

  async #unseal(share64: string, operation?: Operation): Promise<Either.Either<UnsealAnswer, Rejection | ShareFault>> {
    const { peer } = this.#ports;
    if (peer.state.fitness.unsealed || peer.verifying !== undefined) {
      if (peer.verifying === undefined && this.#isDamaged) return Either.left(rowsDoNotHold);
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
    if (this.#ports.peer.isInitializing) return Either.left(beingInitialized);
    if (this.#session !== undefined) return Either.right(this.#session);
    const session = this.#newSession();
    this.#session = Either.getOrUndefined(session);
    return session;
  }

  #newSession(): Either.Either<UnsealSession, Rejection> {
    try {
      const vault = this.#ports.peer.vault();
      if (vault === undefined) return Either.left(notInitialized);
      return Either.mapLeft(this.#ports.provider.unseal(vault), (message) =>
        integrityRefusal(`The vault cannot be opened: ${message}.`),
      );
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
    const row = peer.state.cluster.peer;
    if (row?.integrityKey !== keys.integrity.publicKey || row.identityKey !== keys.identity.publicKey)
      return Either.left(integrityRefusal("The vault holds other keys than this peer was initialized with."));
    const { begun, end } = peer.unseal(keys, operation?.act);
    const told = end.then((came): Later | undefined => {
      if (came._tag === "SealedMeanwhile") return undefined;
      if (came.integrityFault !== undefined) log.error("integrity lost", { where: came.integrityFault });
      log.info("unsealed", { peerId: row.peerId });
      void came.rest.then((where) => {
        if (where !== undefined) log.error("integrity lost", { where });
        else if (peer.isWhole) log.info("verified");
      });
      if (came.isAudited) operation?.written();
      if (came.integrityFault === undefined) return undefined;
      return { outcome: "INTEGRITY_FAILURE", detail: "unsealed, and what is stored does not hold" };
    });
    operation?.follow(told);
    await Promise.race([told, begun]);
    const verifying = this.#verifying();
    if (verifying !== undefined) {
      // The request is recorded before the answer; its success, with the unseal.
      operation?.tell("ACCEPTED", `${need} of ${need} shares are in, and what is stored is being verified`);
      log.info("verifying", { rows: verifying.verifying.of });
      return Either.right({ state: "UNSEALED", have: need, need, ...verifying });
    }
    await told;
    // A damaged peer has its keys too, and shows what holds.
    if (!peer.state.fitness.unsealed || this.#isDamaged) return Either.left(rowsDoNotHold);
    return Either.right({ state: sealState(peer.state), have: need, need });
  }

  get #isDamaged(): boolean {
    return this.#ports.peer.state.fitness.integrityFault !== undefined;
  }

  #verifying(): { readonly verifying: Verified } | undefined {
    const { verifying } = this.#ports.peer;
    return verifying === undefined ? undefined : { verifying };
  }
}
