/**
 * S51: what a member is asked for a caller it is asked again after half a second, not before, until it has said
 * something, and so is a maker of a key; nor are probes, pages, signers and votes asked for sooner than after their
 * time. No message is empty, or has more in it than is let through.
 */
import type { MakingState } from "../../core/commands/makeKey/MakingState.ts";
import type { Message } from "../../core/Message.ts";
import type { SettleItem } from "../../core/protocol/Message.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { PeerId } from "../../core/protocol/Topology.ts";
import type { Checker, Watched } from "./Checker.ts";
import type { Ghost } from "./Ghost.ts";
import { Violation } from "../base/Violation.ts";

/** Nearly the interval of whatever is asked for a caller, in microseconds. */
const ASKED_MICROS = 490_000;
/** Twice that interval, and some flushes. */
const LATEST_MICROS = 1_300_000;

const OF_SERVICE = { proposalsPerMessage: 64, evidenceBytes: 4 * 1024 * 1024, heldStatements: 4_096 };

/** The same of what is asked less often, or more often. */
const PROBED_MICROS = 1_900_000;
const PAGE_MICROS = 900_000;
const REPAIR_MICROS = 240_000;

/** Something that a message asks of one member: its name, and how soon it may be asked again, in microseconds. */
interface Word {
  readonly name: string;
  readonly after: number;
  /** How often it may be said in less than that. */
  readonly times: number;
  /** What the member says may be a reason to say it again at once. */
  readonly isAnswer: boolean;
}

const word = (name: string, after = ASKED_MICROS): Word => ({ name, after, times: 1, isAnswer: false });
const answer = (name: string): Word => ({ ...word(name), isAnswer: true });

/** A proposal's place and its writer's receipt name it; a liar signs several of one place in one batch. */
const nameOf = ({ proposal, receipt }: SettleItem): string =>
  `${receipt.statement.proposalId.slice(0, 8)} of slot ${proposal.epoch}/${proposal.seq} in batch ${receipt.header.batchNo}`;

const wordsIn = (message: Message, isJoining: boolean): ReadonlyArray<Word> => {
  if (message._tag === "Forward") return [word(`request ${message.forward.requestId}`)];
  if (message._tag === "StoredQuery")
    return [word(`its question about ${message.ref} for request ${message.requestId}`)];
  if (message._tag === "Session.Mirror")
    return message.items.map(({ session }) => word(`session ${session.registrationId}`));
  // One that joins asks whenever it has become able to answer for itself.
  if (message._tag === "ReadyProbe") return isJoining ? [] : [word(`probe ${message.nonce}`, PROBED_MICROS)];
  if (message._tag === "SnapshotRequest")
    return [word(`its question ${message.nonce} for the page after "${message.after}"`, PAGE_MICROS)];
  // Whoever was asked after the first ones is asked again with them.
  if (message._tag === "Sign.Open") return [{ ...word(`signing session ${message.sessionId}`), times: 2 }];
  if (message._tag === "Sign.Package")
    return message.items.map(({ sessionId }) => word(`the signers of session ${sessionId}`));
  if (message._tag === "Repair.Open") return [word(`repair ${message.sessionId}`, REPAIR_MICROS)];
  if (message._tag === "SettleQuery") return message.items.map((item) => answer(`its question about ${nameOf(item)}`));
  if (message._tag !== "AbortRequest") return [];
  // Once for the vote that has come, and once because it is time to ask.
  return message.items.map((item) => ({
    ...answer(`its wish to end ${nameOf(item)} and ${item.votes.length} votes`),
    times: 2,
  }));
};

/** The requests of this peer's own callers that a message asks a member about. */
const requestsIn = (message: Message, slot: number): ReadonlyArray<string> => {
  if (message._tag === "Forward") return [message.forward.requestId];
  if (message._tag === "StoredQuery") return [message.requestId];
  if (message._tag !== "Session.Mirror") return [];
  return message.items.flatMap(({ evidence }) => (evidence.entryPeer === slot ? [evidence.requestId] : []));
};

/** How many things of a bounded kind are in a message; undefined where it has none. */
const sizeOf = (message: Message): number | undefined => {
  if (message._tag === "Votes" || message._tag === "CommitAcks") return message.statements.length;
  // A writer with nothing to deliver tells what the others need not keep.
  if (message._tag === "Commit") return message.stableSeq > 0 ? undefined : message.certificates.length;
  if (message._tag === "Session.Votes") return message.acks.length + message.refusals.length;
  const isOfItems =
    message._tag === "Prepare" ||
    message._tag === "SettleQuery" ||
    message._tag === "AbortRequest" ||
    message._tag === "Session.Mirror";
  return isOfItems ? message.items.length : undefined;
};

/** The bytes of all bodies in a message that has several; one may be as long as it is. */
const bodyBytesIn = (message: Message): number => {
  if ((message._tag !== "Prepare" && message._tag !== "Session.Mirror") || message.items.length === 1) return 0;
  return message.items.reduce((sum, { evidence }) => sum + evidence.call.rawBody.length, 0);
};

/** Messages whose size is counted in proposals or sessions. */
const counted: ReadonlySet<string> = new Set(["Prepare", "SettleQuery", "AbortRequest", "Session.Mirror"]);

/** Whether a member was asked for something that a caller waits for, and has said anything since. */
interface Question {
  last: number;
  isAnswered: boolean;
}

/** What a maker of a key says again to one that has not said its own. */
type MakersWord = "Keygen.Package" | "Keygen.Share";

const makersWord = (kind: MakersWord, sessionId: string, to: PeerId): string => `${kind} of ${sessionId} to peer ${to}`;

/** What is to be said again, until the same comes from there. */
const owedIn = ({ modules, cluster: { peer, membership } }: PeerState): ReadonlyArray<string> => {
  const { sessions } = (modules["makeKey"] as MakingState | undefined) ?? {};
  if (sessions === undefined || sessions.size === 0 || membership === undefined) return [];
  const others = membership.peerIds.filter((each) => each !== peer?.peerId);
  return [...sessions.values()].flatMap(({ sessionId, told, made, packages, shares }) => {
    if (made !== undefined) return [];
    const kind = told === undefined ? "Keygen.Package" : "Keygen.Share";
    const heard: ReadonlyMap<PeerId, unknown> = told === undefined ? packages : shares;
    return others.filter((each) => !heard.has(each)).map((each) => makersWord(kind, sessionId, each));
  });
};

/** What one process has said. */
interface Said {
  /** By member: when each word was said, by itself, as often as is of interest, the newest first. */
  readonly words: Map<PeerId, Map<string, ReadonlyArray<number>>>;
  /** By member: when it was shown last that an incarnation of it is over. */
  readonly reminded: Map<PeerId, number>;
  /** By member: when it was heard last. */
  readonly heard: Map<PeerId, number>;
  /** By request of a caller of this peer, and by member. */
  readonly questions: Map<string, Map<PeerId, Question>>;
  /** Requests about which members were asked what they store. */
  readonly looked: Set<string>;
  /** By what a maker owes another: since when, or when it said that again last. */
  readonly owed: Map<string, number>;
}

/** Whether a peer is fit to ask anything. */
const mayAsk = ({ fitness: { unsealed, quarantine, integrityFault } }: PeerState): boolean =>
  unsealed && quarantine === undefined && integrityFault === undefined;

const begun = (): Said => ({
  words: new Map(),
  reminded: new Map(),
  heard: new Map(),
  questions: new Map(),
  looked: new Set(),
  owed: new Map(),
});

export const S51 = (ghost: Ghost): Checker => {
  const most = { ...OF_SERVICE, ...ghost.capacities };
  const all: Array<Said> = [];
  const saidBy = (slot: number): Said => {
    let said = all[slot];
    if (said === undefined) {
      said = begun();
      all[slot] = said;
    }
    return said;
  };

  const assertSize = (slot: number, message: Message): void => {
    const size = sizeOf(message);
    if (size === 0)
      throw new Violation("S51", `peer ${slot} sent a ${message._tag}`, "there is nothing in it: it need not be sent");
    const held = message._tag === "SettleAnswer" ? message.items.reduce((sum, each) => sum + each.held.length, 0) : 0;
    if (counted.has(message._tag) && (size ?? 0) > most.proposalsPerMessage)
      throw new Violation(
        "S51",
        `peer ${slot} sent a ${message._tag} about ${size}`,
        `a message is about ${most.proposalsPerMessage} at most`,
      );
    const bytes = bodyBytesIn(message);
    if (bytes > most.evidenceBytes)
      throw new Violation(
        "S51",
        `peer ${slot} sent a ${message._tag} about ${size} with ${bytes} bytes of bodies`,
        `a message of several has ${most.evidenceBytes} at most`,
      );
    if (held > most.heldStatements)
      throw new Violation(
        "S51",
        `peer ${slot} sent a ${message._tag} with ${held} statements`,
        `a message has ${most.heldStatements} at most`,
      );
  };

  const assertUnopposed = ({ slot, state }: Watched, message: Message): void => {
    if (message._tag !== "Prepare" && message._tag !== "SettleQuery") return;
    const opposed = message.items.find(
      ({ receipt: { statement } }) => state?.undecided.preparations.get(statement.proposalId)?.refusal !== undefined,
    );
    if (opposed !== undefined)
      throw new Violation(
        "S51",
        `peer ${slot} knows that a member has refused ${opposed.receipt.statement.proposalId}`,
        `it asks for receipts of it in a ${message._tag}, and not for its end`,
      );
  };

  /** Counted from the steps: one slow flush may hold what two of them said, and let both go at once. */
  const assertDue = (peer: Watched, { words, heard }: Said, message: Message, to: PeerId): void => {
    const { slot, state, decidedAt: at } = peer;
    const isJoining = (state?.rejoining.unproven.size ?? 0) > 0;
    let told = words.get(to);
    if (told === undefined) {
      told = new Map();
      words.set(to, told);
    }
    for (const { name, after, times, isAnswer } of wordsIn(message, isJoining)) {
      const known = told.get(name) ?? [];
      const before = known[times - 1];
      const isAnswered = isAnswer && before !== undefined && (heard.get(to) ?? 0) >= before;
      if (before !== undefined && at - before < after && !isAnswered)
        throw new Violation(
          "S51",
          `peer ${slot} sent peer ${to} ${name} at ${before} µs`,
          `it sent it again in a ${message._tag} at ${at} µs, after ${Math.floor((at - before) / 1_000)} ms`,
        );
      told.set(name, [at, ...known].slice(0, times));
    }
  };

  /** A member learns once in a second what is on record of it, whatever takes it for what it was. */
  const assertReminded = ({ slot, state, decidedAt: at }: Watched, { reminded }: Said, to: PeerId): void => {
    if (state?.probing.remindedAt.get(to) !== at / 1_000) return;
    const last = reminded.get(to);
    // A probe may go with it.
    if (last !== undefined && last !== at && at - last < PAGE_MICROS)
      throw new Violation(
        "S51",
        `peer ${slot} showed peer ${to} at ${last} µs what is on record of it`,
        `it did so again at ${at} µs`,
      );
    reminded.set(to, at);
  };

  const noteQuestions = ({ questions }: Said, slot: number, message: Message, to: PeerId, at: number): void => {
    for (const requestId of requestsIn(message, slot)) {
      const members = questions.get(requestId) ?? new Map<PeerId, Question>();
      const question = members.get(to);
      if (question === undefined) members.set(to, { last: at, isAnswered: false });
      else question.last = at;
      questions.set(requestId, members);
    }
  };

  const noteAnswer = ({ questions }: Said, message: Message, from: PeerId): void => {
    if (message._tag === "Session.Votes") for (const members of questions.values()) settle(members.get(from));
    if (message._tag === "Forwarded" || message._tag === "Outcome" || message._tag === "StoredAnswer")
      settle(questions.get(message.requestId)?.get(from));
  };
  const settle = (question: Question | undefined): void => {
    if (question !== undefined) question.isAnswered = true;
  };

  const assertAsked = (slot: number, requestId: string, members: Map<PeerId, Question>, repliedAt: number): void => {
    for (const [member, { last, isAnswered }] of members)
      if (!isAnswered && repliedAt - last > LATEST_MICROS)
        throw new Violation(
          "S51",
          `peer ${slot} asked peer ${member} about request ${requestId} at ${last} µs and heard nothing`,
          `it had run without a pause and not asked again when it answered its caller at ${repliedAt} µs`,
        );
  };

  /** Looked at while nothing waits there, so that each timer that was due has been heard. */
  const assertOwed = ({ slot, honest, state, isIdle, heldUpUntil }: Watched, { owed }: Said, at: number): void => {
    if (state === undefined) return;
    const due = new Set(mayAsk(state) ? owedIn(state) : []);
    for (const each of owed.keys()) if (!due.has(each)) owed.delete(each);
    for (const each of due) {
      const last = owed.get(each);
      if (last === undefined) owed.set(each, at);
      else if (honest && isIdle && heldUpUntil !== undefined && at - Math.max(last, heldUpUntil) > LATEST_MICROS)
        throw new Violation(
          "S51",
          `peer ${slot} owes its ${each} since ${last} µs, and has not heard the same from there`,
          `it had run without a pause and not said it again by ${at} µs`,
        );
    }
  };

  const forget = ({ slot }: Watched): void => void (all[slot] = begun());

  return {
    id: "S51",
    booted: forget,
    stopped: forget,
    stepped: (peer) => {
      const { slot, state, decidedAt } = peer;
      if (state !== undefined && !mayAsk(state)) all[slot]?.questions.clear();
      assertOwed(peer, saidBy(slot), decidedAt);
    },
    delivered: (peer, message, from, at) => {
      const said = all[peer.slot];
      if (said === undefined) return;
      said.heard.set(from, at);
      assertOwed(peer, said, at);
      noteAnswer(said, message, from);
    },
    sent: (peer, message, to, at) => {
      const { slot, honest } = peer;
      const said = saidBy(slot);
      // One that is not honest may be so again before its request is answered.
      if (honest) {
        assertSize(slot, message);
        assertUnopposed(peer, message);
        if (message._tag === "Forward" && said.looked.has(message.forward.requestId))
          throw new Violation(
            "S51",
            `peer ${slot} asks the members what they store for request ${message.forward.requestId}`,
            `it forwarded the request again at ${at} µs`,
          );
        assertDue(peer, said, message, to);
        if (message._tag === "ReadyProbe") assertReminded(peer, said, to);
      }
      noteQuestions(said, slot, message, to, at);
      if ((message._tag === "Keygen.Package" || message._tag === "Keygen.Share") && message.again) {
        const word = makersWord(message._tag, message.sessionId, to);
        if (said.owed.has(word)) said.owed.set(word, at);
      }
      if (message._tag === "StoredQuery") said.looked.add(message.requestId);
    },
    replied: ({ slot, honest }, { requestId, undisturbedSince, repliedAt }) => {
      const said = all[slot];
      const members = said?.questions.get(requestId);
      if (said === undefined || members === undefined) return;
      if (honest && undisturbedSince !== undefined) assertAsked(slot, requestId, members, repliedAt);
      said.questions.delete(requestId);
      said.looked.delete(requestId);
    },
  };
};
