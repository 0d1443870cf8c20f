/** What can happen to a peer. Everything a step depends on is in here, in the state, or in the {@link StepContext}. */
import type { ActorCheck } from "../auth/ActorCheck.ts";
import type { Ceremony } from "../webauthn/Ceremony.ts";
import type { SignatureProvider } from "../credential/SignatureProvider.ts";
import type { Crypto, Signer } from "../crypto/Crypto.ts";
import type { Digest, Entropy, PublicKey } from "../base/Digest.ts";
import type { Capacities } from "../base/Capacities.ts";
import type { Commands } from "./Command.ts";
import type { Call } from "./Forward.ts";
import type { Message } from "./Message.ts";
import type { ProtocolTimer } from "./ModeTable.ts";
import type { NumberedAct } from "./OperatorAct.ts";
import type { PromotionPlan } from "./PromotionPlan.ts";
import type { Promoted } from "./PromotionDraft.ts";
import type { PeerId } from "./Topology.ts";
import type { KeyCrypto, ShareVault } from "../threshold/Suite.ts";
import type { RowView } from "./Tables.ts";
import type { Versions } from "./Versions.ts";
import type { RelyingParty } from "../webauthn/RelyingParty.ts";

/** Modules name theirs by module and name, such as `Session.mirror`. */
export type ModuleTimer = `${string}.${string}`;
export type TimerName = ProtocolTimer | ModuleTimer;

export const isModuleTimer = (timer: TimerName): timer is ModuleTimer => timer.includes(".");

/** What operators did up to and with this event, for the audit; acts that are in it already are skipped. */
type Acts = ReadonlyArray<NumberedAct>;

export type Event =
  /** An operator initializes this peer; the keys were made outside and come with their encrypted form. */
  | {
      readonly _tag: "Initialize";
      readonly requestId: string;
      readonly peerId: PeerId;
      readonly threshold: number;
      readonly total: number;
      readonly identityKey: PublicKey;
      readonly integrityKey: PublicKey;
      readonly vault: Uint8Array;
    }
  /** The keys are in memory, and are not used before {@link Unsealed}: every stored row is verified first. */
  | { readonly _tag: "Verifying" }
  /** The private keys are in use: {@link StepContext.signer} is there from this event on. */
  | { readonly _tag: "Unsealed"; readonly acts?: Acts }
  | { readonly _tag: "Sealed"; readonly acts?: Acts }
  /** An operator declares that this peer's disk is older than what the peer once said. */
  | { readonly _tag: "DeclareRestore"; readonly requestId: string; readonly acts?: Acts }
  /** An operator gives this peer a new integrity key; it was made outside and comes with its encrypted form. */
  | {
      readonly _tag: "RotateIntegrity";
      readonly requestId: string;
      readonly publicKey: PublicKey;
      readonly blob: Uint8Array;
      readonly acts?: Acts;
    }
  /** Operators proved new unseal shares; the keys stay, and rest encrypted under these shares from now on. */
  | { readonly _tag: "Rekey"; readonly requestId: string; readonly vault: Uint8Array; readonly acts?: Acts }
  /**
   * An operator asks an instance that is alone to become a member of a cluster, with its registry (PromotionRequest.ts).
   * With `dryRun` only what would be refused is told. Answered with `Promotion` or `Rejected`.
   */
  | {
      readonly _tag: "Promote";
      readonly requestId: string;
      readonly plan: PromotionPlan;
      readonly actor: ActorCheck;
      readonly dryRun: boolean;
    }
  /** Operators made calls that change no row, or that were refused. */
  | { readonly _tag: "Operated"; readonly requestId: string; readonly acts: Acts }
  /** A change that a caller asked this peer for. */
  | {
      readonly _tag: "Command";
      readonly requestId: string;
      readonly call: Call;
      readonly token: string;
      readonly actor: ActorCheck;
    }
  /** A caller asks whether a change would be accepted now. */
  | { readonly _tag: "CheckReadiness"; readonly requestId: string }
  /** A message whose envelope was valid. `actors` are the results for the bearer tokens in it, in order. */
  | {
      readonly _tag: "Deliver";
      readonly from: PeerId;
      readonly message: Message;
      readonly actors: ReadonlyArray<ActorCheck>;
      /** Absent where nobody vouches for them. */
      readonly versions?: Versions | undefined;
    }
  /** A message whose envelope was valid, in a version that is not spoken here. */
  | { readonly _tag: "Unread"; readonly from: PeerId; readonly versions: Versions }
  | { readonly _tag: "TimerFired"; readonly timer: TimerName }
  /** A stored row did not hold: this peer signs nothing until it is repaired. */
  | { readonly _tag: "IntegrityLost"; readonly where: string };

/** Configuration that the core needs. Times are milliseconds. */
export interface Settings {
  /** Digest of the settings that must be equal on every peer. */
  readonly configDigest: Digest;
  readonly audience: string;
  readonly issuer: string | undefined;
  /** The peer id given by the configuration; where there is one, no other is accepted. */
  readonly ownId?: PeerId | undefined;
  /** Peer ids of the others that this peer is configured to reach. */
  readonly peers: ReadonlyArray<PeerId>;
  /** The instance that may make this peer a member of its cluster; where there is one, this peer founds none. */
  readonly joins?: Promoted | undefined;
  /** Needed until a topology is pinned. */
  readonly bootstrapSecret: Uint8Array | undefined;
  readonly development: boolean;
  readonly answerMillis: number;
  /** Equal on every peer: what others may send and expect follows from them. */
  readonly capacities: Capacities;
  /** The relying party of enrolled passkeys; undefined while enrollment is disabled. */
  readonly relyingParty: RelyingParty | undefined;
  /** Whether keys may have the authority `arbitrary`: any bytes are signed. */
  readonly arbitrary: boolean;
}

/** Everything from outside that one step may look at. */
export interface StepContext {
  /**
   * Unix milliseconds; one sample for the whole step. The clock may have been set since the last one, either way and by
   * any amount: nothing may rest on an order of two readings.
   */
  readonly now: number;
  /**
   * What `now` would be without each setting of the clock, within the last ten minutes, by more than clocks may differ.
   * Nothing is accepted by these times, and no token that is good by one of them is refused for certain.
   */
  readonly asBefore: ReadonlyArray<number>;
  /**
   * Milliseconds on a clock that only goes forward and never jumps. Durations are measured on it;
   * what is signed, stored or compared between peers is taken from `now`.
   */
  readonly elapsed: number;
  /**
   * 32 fresh random bytes for this step, which secrets are derived from. What is drawn to be shown is a fresh nonce
   * (Nonces.ts).
   */
  readonly entropy: Entropy;
  readonly crypto: Crypto;
  /** Present exactly while the peer is unsealed. */
  readonly signer: Signer | undefined;
  readonly view: RowView;
  /** Whether every stored row has been verified since the unseal, so that many can be read at once. */
  readonly isWhole: boolean;
  readonly commands: Commands;
  readonly providers: ReadonlyMap<string, SignatureProvider>;
  readonly ceremony: Ceremony;
  readonly keyCrypto: KeyCrypto;
  /** Present exactly while the peer is unsealed. */
  readonly shareVault: ShareVault | undefined;
  readonly settings: Settings;
  /** Whether the keys that verify tokens are available: a member without them cannot take part in a change. */
  readonly judgesTokens: boolean;
}
