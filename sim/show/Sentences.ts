/** What happened, in words: one line for each message, answer, request and flush. */
import { absurd } from "effect";
import { isOfModule } from "../../core/protocol/Message.ts";
import { offers } from "../../core/commands/enrollPasskey/SessionMessages.ts";
import type { Answer } from "../../core/Action.ts";
import type { Call } from "../../core/protocol/Forward.ts";
import type { Message } from "../../core/Message.ts";
import type { SignedStatement } from "../../core/protocol/Statement.ts";
import type { Write } from "../../core/Tables.ts";
import { isSuccess, type Success } from "../requests/Success.ts";
import type { Asked } from "./Recorder.ts";
import { shortRef, type Topics } from "./Topics.ts";

/** More of a kind are counted, not listed. */
const LISTED = 3;

const listed = (parts: ReadonlyArray<string>): string =>
  parts.length <= LISTED ? parts.join(", ") : `${parts.slice(0, LISTED).join(", ")} and ${parts.length - LISTED} more`;

const names = (topics: Topics, numbers: ReadonlyArray<number>): string =>
  listed(numbers.map((number) => topics.nameOf(number)));

const statementText =
  (topics: Topics) =>
  ({ statement }: SignedStatement): string =>
    [statement.kind, statement.detail, "for", topics.nameOfId(statement.proposalId)].filter(Boolean).join(" ");

const outcomeText = (topics: Topics, outcome: Extract<Message, { readonly _tag: "Outcome" }>["outcome"]): string => {
  if (outcome._tag === "Rejected") return `refused, ${outcome.rejection.code}`;
  if (outcome._tag === "Exchanged") return `offered, ${offers.decode(outcome.answer)?.session.id ?? ""}`;
  if (outcome._tag === "Existing") return `stands already, ${shortRef(outcome.ref)}`;
  return `confirmed, ${topics.nameOf(topics.proposal(outcome.certificate.proposal))}`;
};

/** The content of a message, without its type; empty where the type says it all. */
export const messageText = (topics: Topics, message: Message): string => {
  if (isOfModule(message)) return listed(topics.product.messageModel(message).wordsOf(message));
  switch (message._tag) {
    case "Forward":
      return `${message.forward.requestId}: ${callText(message.forward.call)}`;
    case "Forwarded":
      return message.requestId;
    case "Outcome":
      return `${message.requestId} ${outcomeText(topics, message.outcome)}`;
    case "StoredQuery":
    case "StoredAnswer":
      return `${message.requestId} ${shortRef(message.ref)}`;
    case "Prepare":
    case "SettleQuery":
    case "AbortRequest":
      return names(
        topics,
        message.items.map(({ proposal }) => topics.proposal(proposal)),
      );
    case "Commit":
      return names(
        topics,
        message.certificates.map(({ proposal }) => topics.proposal(proposal)),
      );
    case "Votes":
    case "CommitAcks":
      return listed(message.statements.map(statementText(topics)));
    case "SettleAnswer":
      return listed(message.items.map((item) => `${topics.nameOfId(item.proposalId)} ${item.state}`));
    case "Ready":
      return `${message.mode}${message.sealed ? ", sealed" : ""}, slot ${message.highSeq}`;
    case "SnapshotOffer":
      return `${message.items.length} outcomes${message.upTo === undefined ? ", the last" : ""}`;
    case "GenesisRefused":
      return message.reason;
    case "GenesisCard":
    case "GenesisVote":
    case "GenesisPinned":
    case "ReadyProbe":
    case "SnapshotRequest":
      return "";
    default:
      return absurd(message);
  }
};

/** A success: what it shows, if anything. */
const successText = ({ product }: Topics, answer: Success): string => {
  const shown = product.shownIn(answer)?.shown;
  if (shown === undefined) return `200 ${answer._tag.toLowerCase()}`;
  const what = shown.created ? "201 registered" : shown.own === undefined ? "200 stands already" : "200 replaced";
  return `${what}, ${shortRef(shown.ref)}`;
};

export const answerText = (topics: Topics, answer: Answer): string => {
  if (isSuccess(answer)) return successText(topics, answer);
  switch (answer._tag) {
    case "Rejected":
      return `refused, ${answer.rejection.code}${answer.rejection.outcomeUnknown ? ", outcome unknown" : ""}`;
    case "Readiness":
      return answer.faults.length === 0
        ? "ready"
        : `not ready: ${answer.faults.map(({ reason }) => reason).join(", ")}`;
    case "Initialized":
    case "Rotated":
    case "Rekeyed":
    case "Audited":
    case "Restoring":
    case "Promotion":
      return answer._tag.toLowerCase();
    default:
      return absurd(answer);
  }
};

/** Method, path, and the approver's id where the body names one. */
const callText = ({ method, path, rawBody }: Call): string => {
  const [, id] = /"id":"([^"]{1,64})"/.exec(String.fromCharCode(...rawBody.subarray(0, 1024))) ?? [];
  return `${id === undefined ? "" : `${id}, `}${method} ${path}`;
};

export const askedText = ({ requestId, call, actor }: Asked): string => {
  const who = actor._tag === "Verified" ? actor.claims.sub : `a token that is ${actor._tag.toLowerCase()}`;
  return `${requestId} by ${who}: ${callText(call)}`;
};

/** How many rows of which tables. */
export const writesText = (writes: ReadonlyArray<Write>): string => {
  const counts = new Map<string, number>();
  for (const { table, op } of writes) {
    const name = op === "remove" ? `${table} removed` : table;
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].map(([name, count]) => (count === 1 ? name : `${count} ${name}`)).join(", ");
};
