/**
 * The one driver. For every event, in this order: compute the step; send messages made of flushed statements only;
 * flush the step's writes, in one transaction; publish the state; act. The server and the simulator run exactly this
 * code.
 *
 * It is a plain object over synchronous ports and one callback (the end of a
 * flush), so that the simulator decides when everything happens; the server
 * wraps it (docs/decisions/0002-plain-driver.md).
 */
import { absurd } from "effect";
import type { Commands } from "../core/protocol/Command.ts";
import type { Action, Answer } from "../core/Action.ts";
import { boot, bootDamaged } from "../core/protocol/Boot.ts";
import type { Ceremony } from "../core/webauthn/Ceremony.ts";
import type { SignatureProvider } from "../core/credential/SignatureProvider.ts";
import type { Crypto, Signer } from "../core/crypto/Crypto.ts";
import type { Entropy } from "../core/base/Digest.ts";
import type { Event, Settings, StepContext, TimerName } from "../core/protocol/Event.ts";
import { takeStep } from "../core/Peer.ts";
import type { PeerState } from "../core/protocol/PeerState.ts";
import type { Message } from "../core/Message.ts";
import type { NumberedAct } from "../core/protocol/OperatorAct.ts";
import type { PeerId } from "../core/protocol/Topology.ts";
import type { KeyCrypto, ShareVault } from "../core/threshold/Suite.ts";
import type { StepResult } from "../core/Action.ts";
import { IntegrityFailure, type PeerStore } from "./PeerStore.ts";
import type { Reading } from "./WallClock.ts";

export interface DriverPorts {
  readonly store: PeerStore;
  /** Both clocks of this machine. */
  readonly clock: () => Reading;
  /** 32 fresh random bytes. */
  readonly entropy: () => Entropy;
  readonly crypto: Crypto;
  readonly commands: Commands;
  readonly providers: ReadonlyMap<string, SignatureProvider>;
  readonly ceremony: Ceremony;
  readonly keyCrypto: KeyCrypto;
  readonly settings: Settings;
  /** Whether the keys that verify tokens are available now. */
  readonly judgesTokens: () => boolean;
  /** Whether every stored row has been verified since the unseal. */
  readonly isWhole: () => boolean;
  /** Hands a message to the network; losing it is allowed. */
  readonly send: (to: PeerId, message: Message) => void;
  /**
   * Called, while a flush runs, with what will be sent after it: time for work that needs no flush, such as sealing an
   * envelope. Nothing may leave; a message may turn out never to be sent.
   */
  readonly sendAhead?: (to: PeerId, message: Message) => void;
  /**
   * Asked before each event that had to wait: true where `goOn` will be called later, once whatever else has come to the
   * process meanwhile has had its turn. Without it all mail is handled at once.
   */
  readonly giveWay?: (goOn: () => void) => boolean;
  readonly reply: (requestId: string, answer: Answer) => void;
  /** Fires {@link PeerDriver.dispatch} with the timer once, after the delay. */
  readonly setTimer: (timer: TimerName, afterMillis: number) => void;
  /** The peer must not go on: its disk failed or a promise of the program was broken. */
  readonly halt: (reason: Error) => void;
}

/** Everything a driver keeps in memory between two events. */
export interface DriverMemory {
  readonly state: PeerState;
  /** The keys, while they are in use. */
  readonly keys: KeysInUse | undefined;
}

/** What a peer has in memory exactly while it is unsealed. */
export interface KeysInUse {
  /** The identity key. */
  readonly signer: Signer;
  readonly shareVault: ShareVault;
}

interface Mail {
  readonly event: Event;
  /** For `Unsealed`: the keys that come into use with it. */
  readonly keys?: KeysInUse | undefined;
  /** Called when nothing of it waits here any more. */
  readonly consumed?: (() => void) | undefined;
}

/** The context of one step. Random bytes are drawn only for the few steps that ask for them. */
class Context implements StepContext {
  readonly #reading: Reading;
  readonly crypto: Crypto;
  readonly signer: Signer | undefined;
  readonly view: PeerStore;
  readonly isWhole: boolean;
  readonly commands: Commands;
  readonly providers: ReadonlyMap<string, SignatureProvider>;
  readonly ceremony: Ceremony;
  readonly keyCrypto: KeyCrypto;
  readonly shareVault: ShareVault | undefined;
  readonly settings: Settings;
  readonly judgesTokens: boolean;
  readonly #draw: () => Entropy;
  #entropy: Entropy | undefined;

  constructor(ports: DriverPorts, keys: KeysInUse | undefined) {
    this.#reading = ports.clock();
    this.crypto = ports.crypto;
    this.signer = keys?.signer;
    this.shareVault = keys?.shareVault;
    this.view = ports.store;
    this.isWhole = ports.isWhole();
    this.commands = ports.commands;
    this.providers = ports.providers;
    this.ceremony = ports.ceremony;
    this.keyCrypto = ports.keyCrypto;
    this.settings = ports.settings;
    this.judgesTokens = ports.judgesTokens();
    this.#draw = ports.entropy;
  }

  get now(): number {
    return this.#reading.now;
  }

  get asBefore(): ReadonlyArray<number> {
    return this.#reading.asBefore;
  }

  get elapsed(): number {
    return this.#reading.elapsed;
  }

  get entropy(): Entropy {
    this.#entropy ??= this.#draw();
    return this.#entropy;
  }
}

export class PeerDriver {
  readonly #ports: DriverPorts;
  readonly #mailbox: Array<Mail> = [];
  #state: PeerState;
  #keys: KeysInUse | undefined;
  #busy = false;
  #stopped = false;

  /**
   * Reads the state back from the store, or goes on from what another driver of
   * this peer remembered on these very rows. Throws whatever the store, or a
   * contradiction in it, throws.
   */
  constructor(ports: DriverPorts, memory?: DriverMemory) {
    this.#ports = ports;
    this.#state = memory?.state ?? this.#boot();
    this.#keys = memory?.keys;
  }

  #boot(): PeerState {
    const { store, crypto, commands } = this.#ports;
    try {
      return boot(store.atStart, crypto, commands, this.#ports.clock().elapsed);
    } catch (fault) {
      if (!(fault instanceof IntegrityFailure)) throw fault;
      return this.#bootDamaged(fault.where);
    }
  }

  /** The peer and its topology, if at least these rows hold; else only that its records do not. */
  #bootDamaged(where: string): PeerState {
    const { store, crypto } = this.#ports;
    try {
      return bootDamaged(store.atStart, crypto, where);
    } catch (fault) {
      if (!(fault instanceof IntegrityFailure)) throw fault;
      return bootDamaged({ get: () => undefined, scan: () => [] }, crypto, fault.where);
    }
  }

  /** The published state: everything in it is on the disk. */
  get state(): PeerState {
    return this.#state;
  }

  /** Everything that another driver needs to go on from here; it is complete only between events. */
  get memory(): DriverMemory {
    return { state: this.#state, keys: this.#keys };
  }

  /** Events waiting behind the one under way. */
  get backlog(): number {
    return this.#mailbox.length;
  }

  /**
   * Takes an event in; events are handled one at a time, in order.
   *
   * @param consumed called when its step is done, or when the driver stops and forgets it
   */
  dispatch(event: Event, consumed?: () => void): void {
    this.#take({ event, consumed });
  }

  /** Brings the keys into use; `acts` is what operators did up to and with it. */
  unseal(keys: KeysInUse, acts: ReadonlyArray<NumberedAct> = []): void {
    this.#take({ event: { _tag: "Unsealed", acts }, keys });
  }

  /** Nothing more is done, not even the rest of the actions under way: the same as a crash. */
  stop(): void {
    this.#stopped = true;
    for (const { consumed } of this.#mailbox.splice(0)) consumed?.();
  }

  #take(mail: Mail): void {
    if (this.#stopped) return mail.consumed?.();
    this.#mailbox.push(mail);
    if (!this.#busy) this.#work();
  }

  /** Goes on with mail that had to wait. */
  readonly #goOn = (): void => {
    if (!this.#stopped) this.#work();
  };

  /** Handles mail until a flush is under way, others have their turn, or nothing is left. */
  #work(): void {
    const { giveWay } = this.#ports;
    this.#busy = true;
    for (let isFirst = true; this.#mailbox.length > 0; isFirst = false) {
      if (!isFirst && giveWay?.(this.#goOn) === true) return;
      const mail = this.#mailbox.shift();
      if (mail === undefined) return;
      const isWaiting = this.#handle(mail);
      mail.consumed?.();
      if (isWaiting || this.#stopped) return;
    }
    this.#busy = false;
  }

  /** Runs one event; true when it waits for a flush. */
  #handle(mail: Mail): boolean {
    if (mail.event._tag === "Unsealed") this.#keys = mail.keys;
    try {
      const next = this.#step(mail.event);
      if (mail.event._tag === "Sealed") this.#keys = undefined;
      return this.#carryOut(next);
    } catch (fault) {
      // The event that handles damage must not meet it again, or it would be repeated for ever.
      if (fault instanceof IntegrityFailure && mail.event._tag !== "IntegrityLost") {
        // The event is lost, as a message may be; from here on this peer signs nothing. An event whose caller waits for
        // an answer is not lost, nor is a seal or an unseal: a peer that knows of its damage looks at no row for these.
        const { _tag } = mail.event;
        const isAwaited = _tag === "Sealed" || _tag === "Unsealed" || "requestId" in mail.event;
        if (isAwaited && this.#state.fitness.integrityFault === undefined) this.#mailbox.unshift(mail);
        this.#mailbox.unshift({ event: { _tag: "IntegrityLost", where: fault.where } });
        return false;
      }
      // After any other fault the event is half done: going on could lose or split a record.
      this.#halt(fault instanceof Error ? fault : new Error(String(fault)));
      return false;
    }
  }

  #step(event: Event): StepResult {
    return takeStep(this.#state, event, new Context(this.#ports, this.#keys));
  }

  #carryOut(next: StepResult): boolean {
    this.#act(next.sendNow);
    if (this.#stopped) return false;
    if (next.writes.length === 0) {
      this.#publish(next);
      return false;
    }
    let waiting = true;
    let returned = false;
    this.#ports.store.commit(next.writes, (failure) => {
      waiting = false;
      if (this.#stopped) return;
      if (failure !== undefined) return this.#halt(failure);
      // If a store completes at once, the calling loop goes on by itself.
      if (!returned) return this.#publish(next);
      try {
        this.#publish(next);
      } catch (fault) {
        return this.#halt(fault instanceof Error ? fault : new Error(String(fault)));
      }
      this.#work();
    });
    returned = true;
    if (waiting) this.#announce(next.thenSend);
    return waiting;
  }

  #announce(actions: ReadonlyArray<Action>): void {
    const { sendAhead } = this.#ports;
    if (sendAhead === undefined) return;
    for (const action of actions) if (action._tag === "Send") sendAhead(action.to, action.message);
  }

  #publish(next: StepResult): void {
    this.#state = next.state;
    this.#act(next.thenSend);
  }

  #act(actions: ReadonlyArray<Action>): void {
    for (const action of actions) {
      if (this.#stopped) return;
      switch (action._tag) {
        case "Send":
          this.#ports.send(action.to, action.message);
          break;
        case "Reply":
          this.#ports.reply(action.requestId, action.answer);
          break;
        case "SetTimer":
          this.#ports.setTimer(action.timer, action.afterMillis);
          break;
        default:
          return absurd(action);
      }
    }
  }

  #halt(reason: Error): void {
    this.stop();
    this.#ports.halt(reason);
  }
}
