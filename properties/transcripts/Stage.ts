/** A cluster whose steps are written down: the effects of each event at the peer that it came to. */
import type { Event } from "../../core/protocol/Event.ts";
import type { Message } from "../../core/Message.ts";
import type { Message as AnyMessage, PrepareItem } from "../../core/protocol/Message.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { SignedStatement } from "../../core/protocol/Statement.ts";
import type { Change } from "../../runtime/ByteStore.ts";
import { Cluster, NOW } from "../cluster/Cluster.ts";
import { relyingParty } from "../cluster/Enrolling.ts";
import { Faults, type Sent } from "./Faults.ts";
import { lied } from "./Lies.ts";
import { Names } from "./Names.ts";
import { RowWords } from "./Rows.ts";
import { Words } from "./Words.ts";

/** Told only where they are the subject. */
const QUIET: ReadonlyArray<string> = ["ReadyProbe", "Ready"];

interface Line {
  readonly what: string;
  /** The receivers of a message; the same one to several is one line. */
  readonly to: ReadonlyArray<PeerId>;
}

interface Told {
  readonly title: string;
  /** Not told where it had no effect. */
  readonly isIdle: boolean;
  readonly lines: Array<Line>;
}

const seconds = (millis: number): string => `${(millis / 1_000).toFixed(3)} s`;

export class Stage {
  readonly cluster: Cluster;
  readonly names = new Names();
  readonly words = new Words(this.names);
  readonly rows = new RowWords(this.names);
  readonly faults = new Faults();
  readonly hidden = new Set(QUIET);
  /** If set, only these messages are told, and beside them only answers. */
  only: ReadonlySet<string> | undefined;
  /** The last statement that each peer has sent about each proposal. */
  readonly #statements = new Map<string, SignedStatement>();
  #told: Array<Told> = [];
  /** The writer's last proposal while it was honest. */
  #before: PrepareItem | undefined;

  constructor(total: number) {
    this.cluster = new Cluster(0, () => ({ relyingParty }), total);
    const { cluster } = this;
    cluster.onEvent = (peerId, event) => this.#begin(peerId, event);
    cluster.tamper = (from, to, message) => this.#sent(from, to, message);
    cluster.flush = (peerId, changes, flush) => this.#flushed(peerId, changes, flush);
    cluster.onReply = (requestId, answer) => this.#note(`answers ${requestId}: ${this.words.answer(answer)}`);
    for (let peerId = 1; peerId <= total; peerId++) cluster.start(peerId);
  }

  /** The lines written down since this was last called. */
  tell(): ReadonlyArray<string> {
    const told = this.#told.filter(({ lines, isIdle }) => lines.length > 0 || !isIdle);
    this.#told = [];
    return told.flatMap(({ title, lines }) => [
      title,
      ...lines.map(({ what, to }) => `  ${to.length === 0 ? "" : `to ${to.join(", ")}`}${what}`),
    ]);
  }

  /** A peer is gone, with all that it had only in memory. */
  crash(peerId: PeerId): void {
    this.cluster.peers.get(peerId)?.stop();
    this.cluster.peers.delete(peerId);
  }

  /** The last statement of a peer about a proposal, or that of any. */
  statement(proposalId: string, by: PeerId): SignedStatement {
    const [any] = [...this.#statements.values()].filter(({ statement }) => statement.proposalId === proposalId);
    const found = this.#statements.get(`${proposalId} ${by}`) ?? any;
    if (found === undefined) throw new Error("nobody has said anything about it");
    return found;
  }

  #begin(peerId: PeerId, event: Event): void {
    this.#told.push({ lines: [], ...this.#title(peerId, event) });
  }

  #title(peerId: PeerId, event: Event): Pick<Told, "title" | "isIdle"> {
    switch (event._tag) {
      case "Deliver": {
        const { message, from } = event;
        const isIdle = this.only !== undefined || this.#isHidden(message);
        return { title: `${peerId} receives ${message._tag} from ${from}`, isIdle };
      }
      case "TimerFired": {
        const at = seconds(this.cluster.now - NOW);
        return { title: `${peerId} at ${at}: timer ${event.timer}`, isIdle: true };
      }
      case "Command":
        return { title: `${peerId} is asked ${event.requestId}`, isIdle: this.only !== undefined };
      default:
        return { title: `${peerId}: ${event._tag}`, isIdle: true };
    }
  }

  /** Also one that only says how far the outbox may be forgotten. */
  #isHidden(message: AnyMessage): boolean {
    return this.hidden.has(message._tag) || (message._tag === "Commit" && message.certificates.length === 0);
  }

  #note(what: string, to: ReadonlyArray<PeerId> = []): void {
    const lines = this.#told.at(-1)?.lines;
    const last = lines?.at(-1);
    const isSame = last !== undefined && last.what === what && to.length > 0;
    if (isSame) lines?.pop();
    lines?.push({ what, to: isSame ? [...last.to, ...to] : to });
  }

  #sent(from: PeerId, to: PeerId, message: Message): Message | undefined {
    const sent: Sent = { from, to, message: this.#lied(to, message) };
    this.#remember(sent.message);
    const fate = this.faults.fate(sent);
    const { _tag } = sent.message;
    const isTold = this.only === undefined ? !this.#isHidden(sent.message) : this.only.has(_tag);
    if (isTold) this.#note(`${fate === "goes" ? "" : `, ${fate}`}: ${this.words.message(sent.message)}`, [to]);
    if (this.faults.crashesBehind(sent)) {
      this.#note("crashes");
      this.crash(from);
    }
    return fate === "goes" ? sent.message : undefined;
  }

  #lied(to: PeerId, message: Message): Message {
    const { lie } = this.faults;
    if (message._tag !== "Prepare") return message;
    if (lie === undefined) [this.#before] = message.items;
    if (lie === undefined || (lie.to ?? to) !== to) return message;
    return { ...message, items: message.items.map((item) => lied(this.cluster, lie.name, item, this.#before)) };
  }

  #remember(message: Message): void {
    const said = message._tag === "Prepare" ? message.items.map(({ receipt }) => receipt) : [];
    const statements = message._tag === "Votes" ? message.statements : said;
    for (const each of statements) this.#statements.set(`${each.statement.proposalId} ${each.header.peerId}`, each);
  }

  #flushed(peerId: PeerId, changes: ReadonlyArray<Change>, flush: () => void): void {
    const point = this.faults.crashesAround(peerId, changes);
    const rows = this.rows.changes(changes);
    if (rows.length > 0 && this.only === undefined) this.#note(`writes: ${rows.join("; ")}`);
    if (point !== undefined) {
      this.#note(`crashes ${point} the flush`);
      this.crash(peerId);
    }
    if (point !== "before") flush();
  }
}
