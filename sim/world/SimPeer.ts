/**
 * One peer of the simulated world: a disk that outlives processes, a process that runs the real driver, keys that are in
 * memory while it is unsealed, and a clock of its own.
 */
import type { Answer } from "../../core/Action.ts";
import type { Composition } from "../../core/protocol/Composition.ts";
import type { Signer } from "../../core/crypto/Crypto.ts";
import type { Entropy } from "../../core/base/Digest.ts";
import type { Event, Settings, TimerName } from "../../core/protocol/Event.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { Message } from "../../core/Message.ts";
import type { NumberedAct, OperatorAct } from "../../core/protocol/OperatorAct.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import { type Rows, type RowView, type TableName, type Write } from "../../core/Tables.ts";
import { OperatorLog, type OperatorLogPorts } from "../../runtime/OperatorLog.ts";
import type { IntegrityKey } from "../../runtime/RowSeal.ts";
import { PeerDriver } from "../../runtime/PeerDriver.ts";
import { WallClock } from "../../runtime/WallClock.ts";
import type { Watched } from "../checkers/Checker.ts";
import type { Cryptography, PeerKeys } from "../crypto/Cryptography.ts";
import type { FlushEnd } from "../disks/LayeredDisk.ts";
import { isBlank, type PeerDisk } from "../disks/PeerDisk.ts";
import { SimJournal } from "../disks/SimJournal.ts";
import { hindrancesOf } from "./Hindrances.ts";
import { isOfIndex, withoutIndex } from "./OlderVersion.ts";
import { boxOpener } from "./BoxOpener.ts";
import { anewFrom, SimClock } from "./SimClock.ts";
import type { Tampering } from "./Tampering.ts";

/** What a peer needs of the world, and tells it. */
export interface Surroundings {
  /** What its next process runs. */
  readonly runs: (peer: SimPeer) => Composition;
  readonly cryptography: Cryptography;
  readonly entropy: () => Entropy;
  /** Milliseconds since the epoch by a perfect clock. */
  readonly realMillis: () => number;
  /** A planted bug: damage that was found is kept from the core. */
  readonly ignoresDamage: boolean;
  /** A planted bug: the keys come into use before the rows are verified. */
  readonly signsUnverified: boolean;
  /** A planted bug: what is read at the start is held against nothing. */
  readonly forgetsStart: boolean;
  /** A planted bug: a row as the core finds it. */
  readonly found:
    | (<T extends TableName>(peer: SimPeer, table: T, row: Rows[T] | undefined) => Rows[T] | undefined)
    | undefined;
  /** Planted bugs in how a peer reads its clock. */
  readonly clockBugs: Pick<Tampering, "clock" | "trustsClock" | "readsAnew">;
  /** By how many milliseconds its clock has moved when it is read again in one moment. */
  readonly clockMoves: number;
  /** Whether it has the keys that tokens are signed with. */
  readonly judgesTokens: (peer: SimPeer) => boolean;
  /** Milliseconds that have gone by, by a clock that never jumps. */
  readonly elapsedMillis: () => number;
  /** Asks for {@link SimPeer.endFlush} after the latency of this peer's disk. */
  readonly scheduleFlush: (peer: SimPeer) => void;
  /** The rows of a transaction as they shall reach the disk. */
  readonly written: (peer: SimPeer, writes: ReadonlyArray<Write>) => ReadonlyArray<Write>;
  readonly durable: (peer: SimPeer, writes: ReadonlyArray<Write>) => void;
  readonly signing: (peer: SimPeer, tag: string) => void;
  readonly send: (peer: SimPeer, to: PeerId, message: Message) => void;
  readonly reply: (peer: SimPeer, requestId: string, answer: Answer) => void;
  /** Has what operators did written into the audit; see {@link OperatorLogPorts.audit}. */
  readonly audit: (peer: SimPeer, ...asked: Parameters<OperatorLogPorts["audit"]>) => void;
  /** Runs something after the latency of a small file. */
  readonly afterJournal: (peer: SimPeer, run: () => void) => void;
  /** A planted bug: operators are answered before their journal is flushed. */
  readonly hastyJournal: boolean;
  readonly setTimer: (peer: SimPeer, timer: TimerName, afterMillis: number) => void;
  readonly halted: (peer: SimPeer, reason: Error) => void;
}

export class SimPeer implements Watched {
  readonly slot: number;
  readonly disk: PeerDisk;
  readonly clock = new SimClock();
  readonly opened = boxOpener(this);
  honest = true;
  /** It came back on an old disk. */
  rolledBack = false;
  /** An operator knows that its disk is old, and says so at every start until that is on the disk. */
  toDeclare = false;
  /** It signs statements that its driver never decided. */
  isLying = false;
  /** What kind of traitor it is, for people. */
  treason: string | undefined;
  /** It is gone for good. */
  isLost = false;
  /** It has known its cluster before; its operators have removed the bootstrap secret since, as they should. */
  wasFounded = false;
  /** Rows were taken away or changed since the last repair. */
  isDamaged = false;
  /** Its process was started on other rows than it has now. */
  isExchanged = false;
  /** A seal was asked for and is not done yet. */
  isSealing = false;
  /** It runs the version from before the index of approvers (OlderVersion.ts). */
  lacksIndex = false;
  /** Its keys are in memory and its rows are being verified. */
  isVerifying = false;
  /** Its rows were verified since its keys came into memory last. */
  isVerified = false;
  misjudgesTokens = false;
  /** An unseal was asked for meanwhile, and waits for that seal. */
  unsealsNext = false;
  /** Which start of this peer is under way. */
  opening = 0;
  settings: Settings;
  /** What its process runs, or ran last. */
  composition: Composition;
  /** The id it is initialized with. */
  peerId: PeerId;
  /** Where it looks for the peers of its configuration: peer id to slot. */
  readonly addresses: Map<PeerId, number>;
  /** The keys its vault holds, or would hold. */
  keys: PeerKeys;
  /** Integrity keys made after the first, in use or not: the rows say which. */
  readonly #laterKeys: Array<IntegrityKey> = [];
  /** In use for envelopes while unsealed. */
  signer: Signer | undefined;
  /** That its process was started on other rows than it was unsealed on. */
  #exchanged: string | undefined;
  process = 0;
  lastReading = 0;
  decidedAt = 0;
  heldUpUntil = 0;
  transactions = 0;
  /** Messages that its drivers have said. */
  said = 0;
  /** Events that its processes were given. */
  taken = 0;
  readonly #surroundings: Surroundings;
  readonly #journal: SimJournal;
  #log: OperatorLog | undefined;
  #driver: PeerDriver | undefined;
  #underWay: ReadonlyArray<Write> = [];
  #recovered: Array<ReadonlyArray<Write>> = [];

  constructor(slot: number, settings: Settings, surroundings: Surroundings) {
    this.slot = slot;
    this.peerId = slot;
    this.settings = settings;
    this.addresses = new Map(settings.peers.map((peerId) => [peerId, peerId]));
    this.#surroundings = surroundings;
    this.keys = surroundings.cryptography.newKeys();
    this.composition = surroundings.runs(this);
    this.#journal = new SimJournal((run) => surroundings.afterJournal(this, run), surroundings.hastyJournal);
    this.disk = surroundings.cryptography.newDisk(
      () => this.keys,
      () => surroundings.scheduleFlush(this),
      () => this.#madeDurable(),
      () => this.composition.tables,
    );
  }

  /** The transaction whose flush is under way, or the last one. */
  get underWay(): ReadonlyArray<Write> {
    return this.#underWay;
  }

  /** Whether its keys are in memory, in use or not. */
  get hasKeys(): boolean {
    return this.signer !== undefined || this.isVerifying;
  }

  get isUp(): boolean {
    return this.#driver !== undefined;
  }

  get state(): PeerState | undefined {
    return this.#driver?.state;
  }

  get store(): RowView {
    return this.disk.watched;
  }

  /** What was done to rows that its process rests on, by the world's own record. */
  get harm(): string | undefined {
    return this.disk.believed ?? this.#exchanged;
  }

  get alteredRow(): string | undefined {
    return this.disk.alteredRow;
  }

  /** Events that wait behind the one under way. */
  get backlog(): number {
    return this.#driver?.backlog ?? 0;
  }

  /** Whether a process runs and nothing waits behind the event under way. */
  get isCaughtUp(): boolean {
    return this.#driver?.backlog === 0;
  }

  get isIdle(): boolean {
    return this.isCaughtUp && !this.disk.flushing;
  }

  /** Starts a process: the open first makes what it finds durable. Throws what the driver's constructor throws. */
  start(): void {
    const { cryptography, entropy, realMillis, found, judgesTokens, clockBugs, clockMoves } = this.#surroundings;
    const { clock, trustsClock, readsAnew } = clockBugs;
    const newest = this.#surroundings.runs(this);
    this.composition = this.lacksIndex ? withoutIndex(newest) : newest;
    this.disk.open();
    // Without an initialization there is no vault to open; the keys are just being made.
    if (isBlank(this.disk)) this.disk.useKey(true);
    this.process += 1;
    this.isExchanged = false;
    this.#exchanged = undefined;
    const process = this.process;
    const alive = (): boolean => this.process === process && this.#driver !== undefined;
    const wallClock = new WallClock({
      clock: () => {
        const reading = this.clock.look(realMillis(), clockMoves);
        this.lastReading = clock === undefined ? reading : clock(this, reading);
        return this.lastReading;
      },
      elapsed: this.#surroundings.elapsedMillis,
    });
    const foundIn = ({ get, scan }: RowView): RowView => ({
      get: found === undefined ? get : (table, key) => found(this, table, get(table, key)),
      scan,
    });
    this.#driver = new PeerDriver({
      store: {
        atStart: foundIn(this.#surroundings.forgetsStart ? this.disk : this.disk.atStart),
        get: foundIn(this.disk).get,
        scan: this.disk.scan,
        commit: (asked, done) => {
          const own = this.lacksIndex ? asked.filter((write) => !isOfIndex(write)) : asked;
          const writes = this.#surroundings.written(this, own);
          this.#underWay = writes;
          this.transactions += 1;
          this.disk.commit(writes, done);
        },
      },
      clock: () => {
        this.decidedAt = this.#surroundings.elapsedMillis() * 1_000;
        if (readsAnew) return anewFrom(wallClock);
        return trustsClock ? { ...wallClock.read(), asBefore: [] } : wallClock.read();
      },
      entropy,
      crypto: cryptography.crypto,
      commands: this.composition,
      providers: cryptography.providers,
      ceremony: cryptography.ceremony,
      keyCrypto: cryptography.keyCrypto,
      settings: this.wasFounded ? { ...this.settings, bootstrapSecret: undefined } : this.settings,
      judgesTokens: () => judgesTokens(this),
      isWhole: () => this.disk.isWhole,
      send: (to, message) => {
        this.said += 1;
        this.#surroundings.send(this, to, message);
      },
      reply: (requestId, answer) => this.#surroundings.reply(this, requestId, answer),
      setTimer: (timer, afterMillis) => {
        if (alive()) this.#surroundings.setTimer(this, timer, afterMillis);
      },
      halt: (reason) => this.#surroundings.halted(this, reason),
    });
    const driver = this.#driver;
    this.#log = new OperatorLog({
      journal: this.#journal,
      state: () => driver.state,
      audit: (acts, done) => this.#surroundings.audit(this, acts, done),
    });
  }

  /** What operators do to the process that runs; a planted bug may have it ignore its damage. */
  get log(): OperatorLog | undefined {
    return this.#surroundings.ignoresDamage && this.harm !== undefined ? undefined : this.#log;
  }

  /** Its not-ready reasons, a bit for each: until they end it passes over what will concern it afterwards. */
  get hindrances(): number {
    return this.state === undefined ? 0 : hindrancesOf(this.state);
  }

  dispatch(event: Event, consumed?: () => void): void {
    this.taken += 1;
    this.clock.momentOver();
    this.#driver?.dispatch(event, consumed);
  }

  /** Brings the keys into memory, where they wait until every row is verified. */
  beginUnseal(): void {
    this.isVerifying = true;
    this.isVerified = false;
    this.disk.useKey(true);
    for (const integrity of this.#laterKeys) this.disk.addKey(integrity);
    this.dispatch({ _tag: "Verifying" });
    if (this.#surroundings.signsUnverified) this.#useSigner();
  }

  /**
   * The rows are verified: brings the keys into use, as an operator asked. A peer whose rows do not hold is told so
   * first. Returns what its audit will have.
   */
  unseal(act: OperatorAct): ReadonlyArray<NumberedAct> {
    this.isVerifying = false;
    this.isVerified = true;
    const where = this.disk.verify();
    this.#exchanged = this.isExchanged ? "its process was started on an older one" : undefined;
    if (where !== undefined && !this.#surroundings.ignoresDamage) this.dispatch({ _tag: "IntegrityLost", where });
    return this.#surroundings.signsUnverified ? [] : this.#useSigner(act);
  }

  /** Verifies some of the rows that nobody has read since the unseal; whether there are more. */
  verifyMore(): boolean {
    const looked = this.disk.verifyMore();
    if (typeof looked === "string") return looked === "more";
    if (!this.#surroundings.ignoresDamage) this.dispatch({ _tag: "IntegrityLost", where: looked.fault });
    return false;
  }

  #useSigner(act?: OperatorAct): ReadonlyArray<NumberedAct> {
    const { identity, shareVault } = this.keys;
    this.signer = identity;
    this.taken += 1;
    const acts = act === undefined ? [] : (this.log?.withWaiting(act) ?? []);
    const signer: Signer = {
      publicKey: identity.publicKey,
      sign: (tag, codec, value) => {
        this.#surroundings.signing(this, tag);
        return identity.sign(tag, codec, value);
      },
    };
    this.#driver?.unseal({ signer, shareVault }, acts);
    return acts;
  }

  /** An operator gives it a new integrity key. */
  rotateIntegrity(requestId: string, act: OperatorAct): void {
    const integrity = { ...this.#surroundings.cryptography.newKeys().integrity, setKey: this.keys.integrity.setKey };
    this.#laterKeys.push(integrity);
    this.disk.addKey(integrity);
    const { publicKey } = integrity;
    const acts = this.log?.withWaiting(act) ?? [];
    this.dispatch({ _tag: "RotateIntegrity", requestId, publicKey, blob: new Uint8Array(8), acts });
  }

  /** Takes the keys out of memory once the driver has handled the seal. */
  forgetKeys(): void {
    this.isVerifying = false;
    this.signer = undefined;
    this.disk.useKey(false);
  }

  endFlush(how: FlushEnd): void {
    this.clock.momentOver();
    this.disk.endFlush(how);
  }

  /** Ends the process at once. What was being written may be seen by the next open. */
  crash(visible: boolean): void {
    this.#endProcess(visible);
    if (this.disk.flushing && visible) this.#recovered.push(this.#underWay);
    this.disk.crash(visible);
    if (!this.disk.isVolatile) this.#recovered = [];
  }

  /** Ends the process and loses everything that was not flushed. */
  losePower(): void {
    this.#endProcess(false);
    this.#recovered = [];
    this.disk.losePower();
  }

  /** A new machine in the place of the old one. */
  wipe(): void {
    this.losePower();
    this.disk.wipe();
    this.keys = this.#surroundings.cryptography.newKeys();
    this.honest = false;
  }

  #endProcess(visible: boolean): void {
    this.#journal.crash(visible);
    this.#log = undefined;
    this.#driver?.stop();
    this.#driver = undefined;
    this.signer = undefined;
    this.isSealing = false;
    this.isVerifying = false;
    this.unsealsNext = false;
    this.opening = 0;
    this.disk.useKey(false);
  }

  #madeDurable(): void {
    const recovered = this.#recovered;
    this.#recovered = [];
    if (recovered.length > 0) for (const writes of recovered) this.#surroundings.durable(this, writes);
    else this.#surroundings.durable(this, this.#underWay);
  }
}
