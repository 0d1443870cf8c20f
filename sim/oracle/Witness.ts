/** Writes the history of what callers ask and see, from their requests as meant and the answers as received. */
import type { Answer } from "../../core/Action.ts";
import { type Ending, History, type OperationId } from "./History.ts";
import type { Meant } from "../requests/Asked.ts";
import type { Seen } from "../models/Meaning.ts";
import type { Model } from "../models/Model.ts";
import { production } from "../models/Models.ts";
import type { Product } from "../models/Product.ts";

/** A request that is not answered yet. */
interface Under {
  readonly model: Model;
  /** The name that its history is kept under. */
  readonly key: string;
  readonly id: string;
}

export class Witness {
  readonly #product: Product;
  readonly #history = new History();
  /** What each ref stands for, once a caller was told of it. */
  readonly #keys = new Map<string, { readonly key: string; readonly id: string }>();
  readonly #under = new Map<OperationId, Under>();

  constructor(product = production) {
    this.#product = product;
  }

  /** A request leaves its caller, `at` microseconds. */
  asked(name: OperationId, at: number, asked: Meant): void {
    const model = this.#product.modelOf(asked);
    const meaning = model.meaning(asked, (ref) => this.#keys.get(ref));
    if (meaning === undefined) return;
    this.#under.set(name, { model, key: meaning.key, id: meaning.id });
    this.#history.asked(name, at, meaning);
  }

  /**
   * An answer reaches its caller. Throws {@link Violation} where it contradicts others.
   *
   * @param isRefusalTrue false where a dishonest writer may have denied what it did
   */
  answered(name: OperationId, at: number, answer: Answer, isRefusalTrue: boolean): void {
    const under = this.#under.get(name);
    if (under === undefined) return;
    this.#under.delete(name);
    if (answer._tag === "Rejected") {
      const { outcomeUnknown, code } = answer.rejection;
      const ending: Ending["_tag"] = outcomeUnknown || !isRefusalTrue ? "open" : under.model.refusedAs(code);
      return this.#history.ended(name, at, { _tag: ending });
    }
    const found = this.#product.shownIn(answer);
    if (found === undefined) return this.#history.forgot(name);
    const { subject, shown } = found;
    const seen = subject.seen(shown.row);
    this.#history.ended(name, at, { _tag: "done", created: shown.created, seen });
    this.#name(shown.ref, seen, under.key);
  }

  /** The caller has gone away, or was answered by a peer that may lie, and may have asked for another change. */
  forgot(name: OperationId, answer?: Answer): void {
    const under = this.#under.get(name);
    const found = under && answer && this.#product.shownIn(answer);
    if (under !== undefined && found !== undefined && !this.#keys.has(found.shown.ref)) {
      const seen = found.subject.seen(found.shown.row);
      if (seen.id === under.id) this.#name(found.shown.ref, seen, under.key);
    }
    this.#under.delete(name);
    this.#history.forgot(name);
  }

  /** A peer showed what it has under a ref. Throws {@link Violation} where that contradicts others. */
  read(peer: number, at: number, ref: string, found: Seen | undefined): void {
    const known = this.#keys.get(ref);
    if (known !== undefined) this.#history.read(peer, at, known.key, found);
  }

  /** A peer has begun to take the registry from the others: what it alone had shown binds no peer any more. */
  restored(peer: number): void {
    this.#history.restored(peer);
  }

  /**
   * Every member was being restored, and the registry is now what their disks had: what was on none of them is gone.
   *
   * @param revisionOf the revision of a subject in it, by ref; 0 where it is not there
   */
  united(revisionOf: (ref: string) => number): void {
    const left = new Map<string, number>();
    for (const [ref, { key }] of this.#keys) left.set(key, Math.max(left.get(key) ?? 0, revisionOf(ref)));
    this.#history.cutBack(left);
  }

  /** A subject is known by its ref from now on. */
  #name(ref: string, { id }: Seen, key: string): void {
    const known = this.#keys.get(ref);
    if (known?.key !== key || known.id !== id) this.#keys.set(ref, { key, id });
  }
}
