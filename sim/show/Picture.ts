/** Turns a recording into what the page draws: rows, arrows, lanes and spans, with everything in words. */
import { absurd } from "effect";
import type { Crypto } from "../../core/crypto/Crypto.ts";
import type { RunReport } from "../hunting/Report.ts";
import { lanesOf } from "./Lanes.ts";
import { type CopyData, type MessageData, type MomentData, modes, type PictureData } from "./PictureData.ts";
import { Pool } from "./Pool.ts";
import type { Copy, Moment, Recorder, Sent } from "./Recorder.ts";
import { answerText, askedText, messageText, writesText } from "./Sentences.ts";
import { callsOf, changesText, conditionsOf } from "./Spans.ts";
import { sectionNames } from "./StateLines.ts";
import { traitorText } from "./Story.ts";
import { Topics } from "./Topics.ts";

/** Facts about a run that the recording does not hold. */
export interface PictureOptions {
  readonly report: Pick<RunReport, "seed" | "schedule" | "peers" | "crypto" | "hash" | "events" | "violation">;
  /** The command that makes the same run. */
  readonly command: string;
  readonly notes: ReadonlyArray<string>;
  /** The peer to begin with. */
  readonly peer: number | undefined;
}

const bad: ReadonlySet<string> = new Set(["crash", "refuse", "fault", "silence", "unreachable"]);

class Painter {
  readonly #recorder: Recorder;
  readonly #peers: number;
  readonly topics: Topics;
  readonly pool = new Pool();
  /** Numbers of messages in the page; those that ended before its first row are left out. */
  readonly #messages = new Map<number, number>();

  constructor(recorder: Recorder, crypto: Crypto) {
    this.#recorder = recorder;
    this.#peers = recorder.world.plan.peers;
    this.topics = new Topics(crypto, recorder.world.product);
    this.#nameProposals();
    recorder.sends.forEach((sent, number) => {
      if (this.#isShown(sent)) this.#messages.set(number, this.#messages.size);
    });
  }

  /** Before anything else, so that a proposal has its name from its first mention on. */
  #nameProposals(): void {
    for (const { message } of this.#recorder.sends) this.topics.aboutMessage(message);
    for (const { state } of this.#recorder.moments) {
      const { preparations, aborting, outbox } = state?.now?.undecided ?? {};
      for (const open of [preparations, aborting, outbox])
        for (const { proposal } of open?.values() ?? []) this.topics.proposal(proposal);
    }
  }

  #row(moment: number): number {
    return Math.max(-1, moment - this.#recorder.dropped);
  }

  #isShown({ moment, copies }: Sent): boolean {
    const isLater = (copy: number): boolean => {
      const { fate, moment: arrival } = this.#recorder.copies[copy] ?? {};
      return fate === "under way" || this.#row(arrival ?? -1) >= 0;
    };
    return this.#row(moment) >= 0 || copies.some(isLater);
  }

  messages(): ReadonlyArray<MessageData> {
    return this.#recorder.sends.filter((sent) => this.#isShown(sent)).map((sent) => this.#message(sent));
  }

  #message({ from, to, message, how, moment, isCut, copies }: Sent): MessageData {
    return {
      type: message._tag,
      from,
      to,
      how,
      row: this.#row(moment),
      text: messageText(this.topics, message),
      value: this.pool.add(message),
      about: this.topics.aboutMessage(message),
      ...(isCut ? { isCut } : {}),
      copies: copies.flatMap((copy) => this.#copy(this.#recorder.copies[copy])),
    };
  }

  #copy(copy: Copy | undefined): ReadonlyArray<CopyData> {
    if (copy === undefined) return [];
    const { dueAt, fate, moment } = copy;
    if (fate !== "arrived") return [{ at: dueAt, fate }];
    const row = this.#row(moment ?? -1);
    return [{ at: dueAt, row, fate: this.#recorder.moments[row]?.kind === "refuse" ? "refused" : "delivered" }];
  }

  #incoming({ copy }: Moment): { readonly message?: number; readonly copy?: number } {
    const number = copy === undefined ? undefined : this.#recorder.copies[copy]?.send;
    if (number === undefined) return {};
    const message = this.#messages.get(number);
    const place = this.#recorder.sends[number]?.copies.indexOf(copy ?? -1) ?? -1;
    return message === undefined ? {} : { message, copy: place };
  }

  moment(moment: Moment): MomentData {
    const { at, event, kind, slot, sends, replies, marks, asked, writes, flushes } = moment;
    const value = asked ?? (kind === "flush" ? writes : undefined);
    const shown = sends.flatMap((number) => this.#messages.get(number) ?? []);
    return {
      at,
      event,
      kind,
      peer: slot,
      text: this.#text(moment),
      label: this.#label(moment),
      about: this.#about(moment),
      ...this.#incoming(moment),
      ...(shown.length > 0 ? { sends: shown } : {}),
      ...(replies.length > 0
        ? {
            answers: replies.map(({ requestId, answer }) => ({
              request: requestId,
              text: answerText(this.topics, answer),
              value: this.pool.add(answer),
            })),
          }
        : {}),
      ...(marks.length > 0 ? { marks } : {}),
      ...(value === undefined ? {} : { value: this.pool.add(value) }),
      ...(flushes ? { flushes } : {}),
      ...(bad.has(kind) || moment.detail.startsWith("failed") ? { bad: true } : {}),
    };
  }

  #sender({ copy }: Moment): Sent | undefined {
    const number = copy === undefined ? undefined : this.#recorder.copies[copy]?.send;
    return number === undefined ? undefined : this.#recorder.sends[number];
  }

  #about(moment: Moment): ReadonlyArray<number> {
    const { topics } = this;
    const about = new Set<number>();
    const came = this.#sender(moment);
    if (came !== undefined) for (const number of topics.aboutMessage(came.message)) about.add(number);
    for (const send of moment.sends) {
      const message = this.#recorder.sends[send]?.message;
      for (const number of message === undefined ? [] : topics.aboutMessage(message)) about.add(number);
    }
    for (const write of moment.writes) for (const number of topics.aboutWrite(write)) about.add(number);
    if (moment.asked !== undefined) about.add(topics.request(moment.asked.requestId));
    if (moment.kind === "silence" || moment.kind === "unreachable") about.add(topics.request(moment.detail));
    if (moment.kind === "read") about.add(topics.approver(moment.detail));
    for (const { requestId, answer } of moment.replies) {
      about.add(topics.request(requestId));
      if (answer._tag === "Registered") about.add(topics.approver(answer.approver.ref));
    }
    return [...about];
  }

  #label({ kind, detail, asked, copy }: Moment): string {
    switch (kind) {
      case "refuse":
        return `refused ${copy === undefined ? "" : (this.#recorder.sends[this.#recorder.copies[copy]?.send ?? -1]?.message._tag ?? "")}`;
      case "flush":
        return detail === "durable" ? "flushed" : `flush ${detail}`;
      case "crash":
        return `crash: ${detail}`;
      case "request":
        return asked?.requestId ?? "request";
      case "deliver":
      case "timer":
      case "fault":
        return detail;
      case "silence":
        return `${detail} gives up`;
      case "network":
        return "";
      case "start":
      case "verify":
      case "unseal":
      case "seal":
      case "pause":
      case "resume":
      case "reply":
      case "read":
      case "readiness":
      case "unreachable":
      case "healed":
      case "acts":
        return kind;
      default:
        return absurd(kind);
    }
  }

  /** One line, without what the moment led to: its messages and answers are listed beside it. */
  #text(moment: Moment): string {
    const { kind, slot, detail, asked, writes, marks, changes } = moment;
    const peer = `Peer ${slot}`;
    const came = this.#sender(moment);
    const content = came === undefined ? "" : messageText(this.topics, came.message);
    const about = content === "" ? "" : `: ${content}`;
    const how = came === undefined || came.how === "sent" ? "" : `${came.how} `;
    switch (kind) {
      case "deliver":
        return `${peer} gets ${how}${detail} from ${came?.from}${about}`;
      case "refuse":
        return `${peer} refuses ${how}${came?.message._tag} from ${came?.from}: ${detail}`;
      case "timer":
        return `${peer}: timer ${detail}`;
      case "flush":
        return `${peer} flushed${detail === "durable" ? "" : ` (${detail})`}: ${writesText(writes)}`;
      case "crash":
        return `${peer} crashes: ${detail}`;
      case "start":
        return `${peer} starts`;
      case "verify":
        return `${peer} has its keys back and verifies its rows`;
      case "unseal":
        return `${peer} is unsealed`;
      case "seal":
        return `${peer} is sealed`;
      case "pause":
        return `${peer} stands still`;
      case "resume":
        return `${peer} goes on`;
      case "request":
        return `${peer} is asked ${asked === undefined ? "" : askedText(asked)}`;
      case "read":
        return `${peer} is read: ${this.topics.nameOf(this.topics.approver(detail))} ${marks[0] ?? ""}`;
      case "readiness":
        return `${peer} is asked whether it would take a change`;
      case "unreachable":
        return `${detail} finds peer ${slot} down`;
      case "silence":
        return `The caller of ${detail} gives up waiting`;
      case "fault":
        return `Fault: ${detail}${changes.length > 0 ? `. ${changesText(changes, this.#peers)}` : ""}`;
      case "network":
        return changesText(changes, this.#peers);
      case "healed":
        return "Everything is healed; from here on the cluster must come to rest";
      case "reply":
      case "acts":
        return `${peer} acts`;
      default:
        return absurd(kind);
    }
  }
}

const sentence = (text: string): string => `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;

/** What the page draws of a recorded run. */
export const pictureOf = (recorder: Recorder, options: PictureOptions): PictureData => {
  const { report, command, notes, peer } = options;
  const { seed, schedule, peers, crypto, hash, events, violation } = report;
  const traitor = traitorText(recorder.world);
  const painter = new Painter(recorder, recorder.world.cryptography.crypto);
  const { topics, pool } = painter;
  const moments = recorder.moments.map((moment) => painter.moment(moment));
  return {
    run: {
      title: `Seed ${seed}, ${schedule}, ${peers} peer${peers === 1 ? "" : "s"}`,
      seed,
      schedule,
      peers,
      crypto,
      hash,
      events,
      command,
      notes: [...notes, ...(traitor === undefined ? [] : [`${sentence(traitor)}.`])],
      treasons: recorder.world.peers.map(({ treason }) => treason ?? null),
    },
    violation: violation === undefined ? null : { id: violation.id, facts: violation.facts, row: moments.length - 1 },
    leftOut: recorder.dropped,
    peer: peer ?? 0,
    modes,
    sections: sectionNames,
    moments,
    messages: painter.messages(),
    lanes: lanesOf(recorder, topics, pool),
    calls: callsOf(recorder),
    conditions: conditionsOf(recorder),
    topics: topics.all,
    shapes: pool.shapes,
    pool: pool.entries,
  };
};
