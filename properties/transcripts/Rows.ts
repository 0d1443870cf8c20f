/**
 * Rows in the words of a transcript. Rows that every transaction writes (batch, counters, head) are left out, and so
 * are those that leave the outbox.
 */
import { Either } from "effect";
import { decode } from "../../core/codec/CborReader.ts";
import { type Rows, rowCodec, type TableName } from "../../core/Tables.ts";
import type { Change } from "../../runtime/ByteStore.ts";
import type { Names } from "./Names.ts";
import { Words } from "./Words.ts";

const slotOf = (key: string): string => String(Number(key.split(".").at(-1)));

/** What is told of a row, by its table: its name, and its other contents. Undefined where nothing is. */
type Telling = {
  readonly [T in TableName]?: readonly [name: (key: string) => string, content: (row: Rows[T]) => string | undefined];
};

const nothing = (): string => "";

export class RowWords {
  readonly #telling: Telling;

  constructor(names: Names) {
    const words = new Words(names);
    const proposal = (key: string): string => names.of("p", key);
    const generation = (key: string): string => key.replace(/\/0*/, " generation ");
    const approver = (key: string): string => names.approver(key);
    this.#telling = {
      peer: [nothing, ({ peerId, total, unsealedOnce }) => `${peerId} of ${total}${unsealedOnce ? ", unsealed" : ""}`],
      genesis: [nothing, ({ topology }) => `a vote for ${topology.members.length} members`],
      topology: [nothing, ({ signatures }) => `pinned with ${signatures.length} signatures`],
      counters: [nothing, ({ quarantine }) => (quarantine === undefined ? undefined : `quarantined, ${quarantine}`)],
      seen: [
        (key) => `${Number(key)}`,
        ({ peerId, incarnation, restored }) =>
          restored === undefined ? undefined : names.incarnation(peerId, incarnation).trim(),
      ],
      preparations: [
        proposal,
        ({ state, refusal, pledge }) =>
          [state, ...(refusal && pledge ? [`on ${words.statements([refusal])}`] : [])].join(" "),
      ],
      refusals: [proposal, ({ refusal }) => refusal.statement.detail],
      slots: [slotOf, ({ proposalId: id, outcome }) => `${outcome} ${proposal(id)}`],
      restore: [
        nothing,
        ({ restoration, recovering }) =>
          `${names.incarnation(restoration.peerId, restoration.incarnation).trim()}${recovering ? ", recovering" : ", whole"}`,
      ],
      strays: [proposal, nothing],
      aborts: [proposal, ({ votes }) => words.statements(votes)],
      certificates: [proposal, nothing],
      outbox: [slotOf, ({ proposalId: id }) => proposal(id)],
      audit: [
        (key) => `${Number(key)}`,
        ({ event, outcome }) => (outcome === "APPLIED" ? event : `${event} ${outcome}`),
      ],
      approvers: [approver, ({ revision }) => `revision ${revision}`],
      keys: [nothing, ({ id }) => `of ${id}`],
      custodyKeys: [(key) => key, ({ status, generation }) => `${status} generation ${generation}`],
      generations: [generation, ({ state }) => state],
      shares: [generation, nothing],
      pending: [generation, ({ sessionId }) => `of ${names.of("s", sessionId)}`],
      credentials: [nothing, ({ ref }) => `of ${approver(ref)}`],
      observations: [approver, nothing],
      completions: [(key) => names.of("s", key), ({ proposalId: id }) => `by ${proposal(id)}`],
      sessions: [
        (key) => names.of("s", key),
        ({ session, completed }) => {
          words.session(session);
          return completed === undefined ? `for ${session.id}` : `completed, ${approver(completed.ref)}`;
        },
      ],
    };
  }

  /** What is told of a row; undefined where that is nothing. */
  row<T extends TableName>(table: T, key: string, encoded: Uint8Array): string | undefined {
    const telling = this.#telling[table];
    if (telling === undefined) return undefined;
    const content = telling[1](Either.getOrThrow(decode(rowCodec(table), encoded)));
    return content === undefined
      ? undefined
      : [table, telling[0](key), content].filter((part) => part !== "").join(" ");
  }

  /** A transaction; empty where nothing is told of it. */
  changes(changes: ReadonlyArray<Change>): ReadonlyArray<string> {
    return changes.flatMap((change) => {
      if (change.op === "remove") {
        const telling = this.#telling[change.table];
        if (telling === undefined || change.table === "outbox") return [];
        return [`${change.table} ${telling[0](change.key)} gone`];
      }
      return this.row(change.table, change.key, change.value.row) ?? [];
    });
  }
}
