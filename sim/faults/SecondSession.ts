/**
 * What a writer does that lives twice around one key generation: it keeps back what it proposed, waits until all others
 * have forgotten the session which that rests on, and makes the same key with them once more. Then it finishes both. Its
 * driver knows of the first session only.
 */
import { Either } from "effect";
import type { Digest } from "../../core/base/Digest.ts";
import type { KeygenMessageOf, SaidPackage } from "../../core/commands/makeKey/KeygenMessages.ts";
import type { KeygenSession } from "../../core/commands/makeKey/MakingState.ts";
import { type Rounds, roundsOf } from "../../core/commands/makeKey/SchemeRounds.ts";
import { heardDigest } from "../../core/commands/makeKey/Transcript.ts";
import type { Message } from "../../core/Message.ts";
import type { MessageOf } from "../../core/protocol/Message.ts";
import type { Proposal } from "../../core/protocol/Proposal.ts";
import type { Statement } from "../../core/protocol/Statement.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import { Secret } from "../../core/threshold/Secret.ts";
import type { BoxKey } from "../../core/threshold/Suite.ts";
import type { Unit } from "../base/Choices.ts";
import { makingIn } from "./LyingMaker.ts";
import type { Traitor } from "./Traitor.ts";

/** When the second session is finished: beside the votes for what rests on the first, or without these. */
const orders = ["between vote and certificate", "after the certificate", "before the vote"] as const;
type Order = (typeof orders)[number];

/** What its polynomial and its boxes are drawn from. */
const SEED = new Secret(new Uint8Array(32).fill(7));
const BOX_SEED = new Secret(new Uint8Array(32).fill(9));

const LOOK_MICROS = 100_000;
/** So long it waits for what others have to say: the first is held up meanwhile, and a caller waits for that. */
const PATIENCE_MICROS = 8_000_000;
const LATEST_MICROS = 400_000;

type Stage = "waiting" | "opened" | "shown" | "finished" | "over";

export interface First {
  readonly session: KeygenSession;
  /** What it asked each of the others. */
  readonly opens: ReadonlyMap<PeerId, KeygenMessageOf<"Keygen.Open">>;
  /** What was proposed of it. */
  readonly proposalId: Digest;
}

/** What a message says of one proposal, and what it says beside that; undefined where that is nothing. */
interface Parted {
  readonly held: Message | undefined;
  readonly left: Message | undefined;
}

const parted = (traitor: Traitor, id: Digest, message: Message): Parted => {
  const part = <A extends { readonly proposal: Proposal }>(
    all: ReadonlyArray<A>,
    of: (some: ReadonlyArray<A>) => Message,
  ): Parted => {
    const held = all.filter(({ proposal }) => traitor.idOf(proposal) === id);
    const left = all.filter((each) => !held.includes(each));
    return {
      held: held.length === 0 ? undefined : of(held),
      left: left.length === 0 ? undefined : of(left),
    };
  };
  if (message._tag === "Prepare") return part(message.items, (items) => ({ ...message, items }));
  if (message._tag === "SettleQuery") return part(message.items, (items) => ({ ...message, items }));
  if (message._tag === "AbortRequest") return part(message.items, (items) => ({ ...message, items }));
  if (message._tag === "Commit") return part(message.certificates, (certificates) => ({ ...message, certificates }));
  return { held: undefined, left: message };
};

export class SecondSession {
  readonly #traitor: Traitor;
  readonly #first: First;
  readonly #order: Order;
  readonly #delay: number;
  readonly #rounds: Rounds;
  readonly #own: SaidPackage;
  readonly #sessionId: Digest;
  readonly #nonce: Digest;
  readonly #process: number;
  readonly #until: number;
  readonly #held: Array<readonly [PeerId, Message]> = [];
  /** The present processes of those that have forgotten the first session. */
  readonly #forgetful = new Map<PeerId, Digest>();
  readonly #wereSealed = new Set<PeerId>();
  readonly #packages = new Map<PeerId, SaidPackage>();
  readonly #voted = new Set<PeerId>();
  readonly #ended = new Set<PeerId>();
  #stage: Stage = "waiting";

  private constructor(traitor: Traitor, first: First, rounds: Rounds, unit: Unit) {
    const { world, peer } = traitor;
    this.#traitor = traitor;
    this.#first = first;
    this.#rounds = rounds;
    this.#order = unit.named("finishes it", "between vote and certificate", orders, [8, 1, 1]);
    this.#delay = unit.between("later by", 0, 0, LATEST_MICROS);
    this.#own = {
      ...rounds.package(SEED),
      boxKey: world.cryptography.keyCrypto.boxes.keyOf(BOX_SEED),
    };
    this.#sessionId = world.entropy.digest();
    this.#nonce = world.entropy.digest();
    this.#process = peer.process;
    this.#until = world.now + PATIENCE_MICROS;
    this.#look();
  }

  /** Undefined for a key that one member has whole: there is only one that can deal it. */
  static begin(traitor: Traitor, first: First, unit: Unit): SecondSession | undefined {
    const { session } = first;
    const making = session.old?._tag === "Whole" ? undefined : makingIn(traitor, session);
    if (making === undefined) return undefined;
    const { scheme, me, parties } = making;
    return new SecondSession(traitor, first, roundsOf(scheme, me, parties, session.old), unit);
  }

  get isOver(): boolean {
    return this.#stage === "over";
  }

  /** What leaves in the place of what its driver says. */
  says(to: PeerId, message: Message): ReadonlyArray<Message> {
    const { held, left } = parted(this.#traitor, this.#first.proposalId, message);
    if (held === undefined || this.#mayLeave(held)) return [message];
    this.#held.push([to, held]);
    return left === undefined ? [] : [left];
  }

  #mayLeave({ _tag }: Message): boolean {
    if (this.#order === "after the certificate" && this.#stage === "shown") {
      if (_tag === "Commit") this.#later(() => this.#tellShares());
      return true;
    }
    return this.#stage === "over";
  }

  /** What its driver hears. */
  hears(from: PeerId, message: Message): Message | undefined {
    if (message._tag === "Ready" && message.nonce === this.#nonce) return void this.#noteReady(from, message);
    if (message._tag === "Votes")
      for (const { statement, header } of message.statements)
        if (statement.proposalId === this.#first.proposalId) this.#noteVote(header.peerId, statement.kind);
    if (!("sessionId" in message) || message.sessionId !== this.#sessionId) return message;
    if (message._tag === "Keygen.Package") this.#notePackage(from, message.said);
    if (message._tag === "Keygen.Ended" || message._tag === "Keygen.Stored") this.#noteEnd(from, message);
    return undefined;
  }

  /** Looks now and then whether the others have forgotten, and gives up in the end. */
  #look(): void {
    const { world, peer } = this.#traitor;
    if (this.#stage === "over") return;
    if (world.healed || peer.process !== this.#process || peer.state?.fitness.unsealed !== true) return this.#end();
    if (world.now >= this.#until) return this.#release();
    if (this.#stage === "waiting") this.#ask();
    world.after(LOOK_MICROS, () => this.#look());
  }

  #later(run: () => void): void {
    this.#traitor.world.after(this.#delay, () => {
      if (!this.isOver && this.#traitor.peer.process === this.#process) run();
    });
  }

  #say(to: PeerId, message: Message): void {
    const { world, peer } = this.#traitor;
    world.mail.utter(peer, to, message);
  }

  #ask(): void {
    const { state, settings } = this.#traitor.peer;
    if (state?.cluster.membership === undefined) return;
    const { digest } = state.cluster.membership;
    for (const to of this.#traitor.others)
      this.#say(to, {
        _tag: "ReadyProbe",
        nonce: this.#nonce,
        topologyDigest: digest,
        configDigest: settings.configDigest,
        process: state.fitness.process,
        seen: undefined,
        restored: state.rejoining.restored,
        recorded: undefined,
      });
  }

  #noteReady(from: PeerId, { moment, mode, sealed }: MessageOf<"Ready">): void {
    if (this.#stage !== "waiting") return;
    if (sealed) this.#wereSealed.add(from);
    const isForgetful = this.#wereSealed.has(from) || moment?.process !== this.#first.opens.get(from)?.process;
    if (isForgetful && moment !== undefined && mode === "active") this.#forgetful.set(from, moment.process);
    else this.#forgetful.delete(from);
    if (this.#forgetful.size === this.#traitor.others.length) this.#open();
  }

  #open(): void {
    this.#stage = "opened";
    for (const [to, process] of this.#forgetful) {
      const open = this.#first.opens.get(to);
      if (open !== undefined) this.#say(to, { ...open, sessionId: this.#sessionId, process });
      this.#say(to, { _tag: "Keygen.Package", sessionId: this.#sessionId, said: this.#own, again: false });
    }
  }

  #notePackage(from: PeerId, said: SaidPackage): void {
    this.#packages.set(from, said);
    if (this.#stage !== "opened" || this.#packages.size < this.#traitor.others.length) return;
    this.#traitor.world.marks.add("a writer had a key made twice for one request");
    this.#stage = "shown";
    if (this.#order === "before the vote") return this.#later(() => this.#tellShares());
    this.#show();
  }

  /** What it has kept back goes out. */
  #show(): void {
    for (const [to, message] of this.#held.splice(0)) this.#say(to, message);
  }

  #noteVote(from: PeerId, kind: Statement["kind"]): void {
    // Nothing comes of the first.
    if (kind !== "RECEIPT") return this.#release();
    this.#voted.add(from);
    if (this.#voted.size < this.#traitor.others.length || this.#stage !== "shown") return;
    if (this.#order === "between vote and certificate") this.#tellShares();
  }

  #tellShares(): void {
    if (this.#stage !== "shown") return;
    this.#stage = "finished";
    const { world } = this.#traitor;
    const { crypto, keyCrypto } = world.cryptography;
    const { peerId } = this.#traitor.peer;
    const { peerIds = [] } = world.ghost.membership ?? {};
    const packages = peerIds.flatMap((each) => (each === peerId ? this.#own : (this.#packages.get(each) ?? [])));
    const { requestDigest } = this.#first.session.making;
    const sessionId = this.#sessionId;
    const heard = heardDigest(crypto, { sessionId, requestDigest, packages });
    const shares = this.#rounds.shares(SEED, [...this.#packages.values()]);
    if (Either.isLeft(shares)) return this.#release();
    world.marks.add(`a second session was finished ${this.#order}`);
    for (const [to, { index, boxKey }] of this.#packages) {
      const secret = shares.right.get(index);
      if (secret === undefined) continue;
      // Of its form: others hear it too, and would have ended the session.
      const box = keyCrypto.boxes.seal(BOX_SEED, boxKey as BoxKey, `keygen ${sessionId} ${peerId} ${to}`, secret);
      this.#say(to, { _tag: "Keygen.Share", sessionId, heard, box, again: false });
    }
  }

  #noteEnd(from: PeerId, { _tag }: Message): void {
    if (_tag === "Keygen.Ended" && this.#stage === "finished")
      this.#traitor.world.marks.add("a member kept what a proposal rests on");
    this.#ended.add(from);
    if (this.#ended.size === this.#traitor.others.length) this.#release();
  }

  #release(): void {
    this.#end();
    this.#show();
  }

  #end(): void {
    this.#stage = "over";
  }
}
