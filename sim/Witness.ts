/** Writes the history of what callers ask and see, from their requests as they meant them and the answers as they got them. */
import type { Answer } from "../core/Action.ts";
import type { Rows } from "../core/Tables.ts";
import type { Command, Replacement } from "./Commands.ts";
import type { Finish, Invite } from "./EnrollmentRequests.ts";
import { type Asked, type Ending, History, type OperationId, type Seen } from "./History.ts";

/** What a request asks for, as far as its history tells. */
export type Meant =
  | Pick<Command, "kind" | "id" | "descriptor" | "team">
  | Pick<Replacement, "kind" | "ref" | "ifMatch" | "team">
  | Pick<Invite, "kind">
  | Pick<Finish, "kind" | "id" | "team" | "keyName" | "registrationId">;

type Pairs = Rows["approvers"]["metadata"];

/** Pairs as one text, equal exactly where they are; the lengths tell names and values from what separates them. */
const textOf = (pairs: Pairs): string => {
  let text = "";
  const sorted = pairs.length < 2 ? pairs : pairs.toSorted(([left], [right]) => (left < right ? -1 : 1));
  for (const [name, value] of sorted) text += `${name.length} ${name}: ${value.length} ${value}; `;
  return text;
};

const metadataOf = (team: string | undefined): string => textOf(team === undefined ? [] : [["team", team]]);

const seenOf = ({ id, metadata, revision }: Rows["approvers"]): Seen => ({ id, metadata: textOf(metadata), revision });

const codeOf = ({ rejection }: Extract<Answer, { readonly _tag: "Rejected" }>): Ending => {
  if (rejection.outcomeUnknown) return { _tag: "open" };
  if (rejection.code === "KEY_ALREADY_REGISTERED") return { _tag: "taken" };
  return { _tag: rejection.code === "PRECONDITION_FAILED" ? "stale" : "no" };
};

/** What a session is called where others are keys. */
const SESSION = "session ";

/** One session makes one approver, whichever response does it; the key in it is claimed beside. */
const ofFinish = ({ id, team, keyName, registrationId }: Extract<Meant, { readonly kind: "FINISH" }>): Asked => ({
  kind: "register",
  key: `${SESSION}${registrationId}`,
  id,
  metadata: metadataOf(team),
  base: undefined,
  claims: keyName,
});

export class Witness {
  readonly #history = new History();
  /** What each ref stands for, once somebody was told of it. */
  readonly #keys = new Map<string, { readonly key: string; readonly id: string }>();
  /** What was asked and is not answered yet, by the key it is about. */
  readonly #under = new Map<OperationId, string>();

  /** A request leaves its caller, `at` microseconds. */
  asked(name: OperationId, at: number, said: Meant): void {
    const asked = this.#meaningOf(said);
    if (asked === undefined) return;
    this.#under.set(name, asked.key);
    this.#history.asked(name, at, asked);
  }

  /**
   * An answer reaches its caller. Throws {@link Violation} where it contradicts others.
   *
   * @param isRefusalTrue false where a writer that is not honest may have said no to what it did
   */
  answered(name: OperationId, at: number, answer: Answer, isRefusalTrue: boolean): void {
    const key = this.#under.get(name);
    if (key === undefined) return;
    this.#under.delete(name);
    if (answer._tag === "Rejected") {
      const ending = isRefusalTrue ? codeOf(answer) : { _tag: "open" as const };
      // The key that is taken is not what the session competes for.
      return this.#history.ended(
        name,
        at,
        ending._tag === "taken" && key.startsWith(SESSION) ? { _tag: "no" } : ending,
      );
    }
    if (!("approver" in answer)) return this.#history.forgot(name);
    const { approver } = answer;
    const created = answer._tag === "Registered" && answer.created;
    this.#history.ended(name, at, { _tag: "done", created, seen: seenOf(approver) });
    this.#name(approver, key);
  }

  /** Whoever asked has gone away, or was answered by somebody who may lie about anything but what the approver is called. */
  forgot(name: OperationId, answer?: Answer): void {
    const key = this.#under.get(name);
    if (key !== undefined && answer !== undefined && "approver" in answer) this.#name(answer.approver, key);
    this.#under.delete(name);
    this.#history.forgot(name);
  }

  /** A peer showed what it has under a ref. Throws {@link Violation} where that contradicts others. */
  read(peer: number, at: number, ref: string, found: Rows["approvers"] | undefined): void {
    const known = this.#keys.get(ref);
    if (known !== undefined) this.#history.read(peer, at, known.key, found && seenOf(found));
  }

  /** A peer has begun to take the registry from the others: what it alone had shown binds nobody any more. */
  restored(peer: number): void {
    this.#history.restored(peer);
  }

  /**
   * Every member was being restored, and what their disks had is the registry now: what was on none of them is gone.
   *
   * @param revisionOf the revision of an approver in it, by ref; 0 where it is not there
   */
  united(revisionOf: (ref: string) => number): void {
    const left = new Map<string, number>();
    for (const [ref, { key }] of this.#keys) left.set(key, Math.max(left.get(key) ?? 0, revisionOf(ref)));
    this.#history.cutBack(left);
  }

  /** An approver is known by its ref from now on. */
  #name({ ref, id }: Rows["approvers"], key: string): void {
    const known = this.#keys.get(ref);
    if (known?.key !== key || known.id !== id) this.#keys.set(ref, { key, id });
  }

  /** What a request asks for; undefined where it names no revision or nothing that is known. */
  #meaningOf(said: Meant): Asked | undefined {
    if (said.kind === "OPTIONS") return undefined;
    if (said.kind === "FINISH") return ofFinish(said);
    // One key has one descriptor, whatever form it was submitted in.
    if (said.kind === "REGISTER")
      return {
        kind: "register",
        key: said.descriptor,
        id: said.id,
        metadata: metadataOf(said.team),
        base: undefined,
      };
    const known = this.#keys.get(said.ref);
    const base = Number(/^"(\d+)"$/.exec(said.ifMatch ?? "")?.[1]);
    return known && Number.isSafeInteger(base)
      ? { kind: "replace", key: known.key, id: known.id, metadata: metadataOf(said.team), base }
      : undefined;
  }
}
