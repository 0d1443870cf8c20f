/** Writes the history of what callers ask and see, from their requests as they sent them and the answers as they got them. */
import type { Answer } from "../core/Action.ts";
import type { Call } from "../core/protocol/Forward.ts";
import type { Rows } from "../core/Tables.ts";
import { type Asked, type Ending, History, type OperationId, type Seen } from "./History.ts";

/** What this file reads of the body of a request; the simulator's callers send nothing else. */
interface Body {
  readonly id?: string;
  readonly credential?: { readonly algorithm: string; readonly publicKey64: string };
  readonly metadata?: { readonly [key: string]: string };
}

type Pairs = ReadonlyArray<readonly [string, string]>;

const textOf = (pairs: Pairs): string => JSON.stringify(pairs.toSorted(([left], [right]) => (left < right ? -1 : 1)));

const seenOf = ({ id, metadata, revision }: Rows["approvers"]): Seen => ({ id, metadata: textOf(metadata), revision });

const codeOf = ({ rejection }: Extract<Answer, { readonly _tag: "Rejected" }>): Ending => {
  if (rejection.outcomeUnknown) return { _tag: "open" };
  if (rejection.code === "KEY_ALREADY_REGISTERED") return { _tag: "taken" };
  return { _tag: rejection.code === "PRECONDITION_FAILED" ? "stale" : "no" };
};

/** The ref in the path of a replacement. */
const refIn = (path: string): string => decodeURIComponent(path.split("/").at(-2) ?? "");

export class Witness {
  readonly #history = new History();
  /** What each ref stands for, once somebody was told of it. */
  readonly #keys = new Map<string, { readonly key: string; readonly id: string }>();
  readonly #asked = new WeakMap<Call, Asked>();
  readonly #under = new Map<OperationId, string>();
  readonly #normalForm: (submitted64: string) => string;

  /** @param normalForm the one form of a key, whatever format it was submitted in */
  constructor(normalForm: (submitted64: string) => string) {
    this.#normalForm = normalForm;
  }

  /** A request leaves its caller, `at` microseconds. */
  asked(name: OperationId, at: number, call: Call): void {
    const asked = this.#asked.get(call) ?? this.#read(call);
    if (asked === undefined) return;
    this.#asked.set(call, asked);
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
    if (answer._tag === "Rejected")
      return this.#history.ended(name, at, isRefusalTrue ? codeOf(answer) : { _tag: "open" });
    if (!("approver" in answer)) return this.#history.forgot(name);
    const { approver } = answer;
    const created = answer._tag === "Registered" && answer.created;
    this.#history.ended(name, at, { _tag: "done", created, seen: seenOf(approver) });
    this.#keys.set(approver.ref, { key, id: approver.id });
  }

  /** Whoever asked has gone away, or was answered by somebody who may lie about anything but what the approver is called. */
  forgot(name: OperationId, answer?: Answer): void {
    const key = this.#under.get(name);
    if (key !== undefined && answer !== undefined && "approver" in answer)
      this.#keys.set(answer.approver.ref, { key, id: answer.approver.id });
    this.#under.delete(name);
    this.#history.forgot(name);
  }

  /** A peer showed what it has under a ref. Throws {@link Violation} where that contradicts others. */
  read(peer: number, at: number, ref: string, found: Rows["approvers"] | undefined): void {
    const known = this.#keys.get(ref);
    if (known !== undefined) this.#history.read(peer, at, known.key, found && seenOf(found));
  }

  /** What a request asks for; undefined where it names no revision or nothing that is known. */
  #read({ method, path, ifMatch, rawBody }: Call): Asked | undefined {
    const body: Body = JSON.parse(new TextDecoder().decode(rawBody));
    const metadata = textOf(Object.entries(body.metadata ?? {}));
    if (method === "PUT") {
      const known = this.#keys.get(refIn(path));
      const base = Number(/^"(\d+)"$/.exec(ifMatch ?? "")?.[1]);
      return known && Number.isSafeInteger(base) ? { kind: "replace", ...known, metadata, base } : undefined;
    }
    const { id, credential } = body;
    if (id === undefined || credential === undefined) return undefined;
    return { kind: "register", key: this.#keyOf(credential), id, metadata };
  }
  #keyOf({ algorithm, publicKey64 }: NonNullable<Body["credential"]>): string {
    return `${algorithm} ${this.#normalForm(publicKey64)}`;
  }
}
