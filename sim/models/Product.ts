/** What a world runs, and the model of every command in it. */
import type { Answer } from "../../core/Action.ts";
import type { Crypto } from "../../core/crypto/Crypto.ts";
import type { SetAccumulator } from "../../core/base/Digest.ts";
import type { Composition } from "../../core/protocol/Composition.ts";
import type { ModuleMessage } from "../../core/protocol/Message.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { Proposal } from "../../core/protocol/Proposal.ts";
import type { RowView } from "../../core/Tables.ts";
import type { Meant } from "../requests/Asked.ts";
import type { MessageModel, MessageModels } from "./MessageModel.ts";
import type { Changing, Model } from "./Model.ts";
import type { Basis, NaiveRegistry } from "./NaiveRegistry.ts";
import type { Change, Covered, Shown, Subject } from "./Subject.ts";

export type RegistryMaker = (basis: Basis) => NaiveRegistry;

const PAGE = 256;

/** The parts of a product. */
export interface Parts {
  readonly composition: Composition;
  readonly subjects: ReadonlyArray<Subject>;
  readonly covered: ReadonlyArray<Covered>;
  /** Of every command, every exchange and every service. */
  readonly models: ReadonlyArray<Model>;
  readonly messages: MessageModels;
  /** What modules remember that a restart must find again, by name (S13). */
  readonly remembered: { readonly [name: string]: (state: PeerState) => string };
}

export class Product {
  readonly composition: Composition;
  readonly models: ReadonlyArray<Model>;
  readonly subjects: ReadonlyArray<Subject>;
  readonly remembered: ReadonlyArray<readonly [name: string, of: (state: PeerState) => string]>;
  /** Each once, however many commands share it. */
  readonly registries: ReadonlyArray<RegistryMaker>;
  readonly #byKind: ReadonlyMap<string, Model>;
  readonly #messages: MessageModels;
  readonly #covered: ReadonlyArray<Covered>;

  /** Throws where a command, an exchange, a service or a message has no model. */
  constructor({ composition, subjects, covered, models, messages, remembered }: Parts) {
    this.#covered = covered;
    this.remembered = Object.entries(remembered);
    this.composition = composition;
    this.#messages = messages;
    this.models = models;
    this.subjects = subjects;
    this.registries = [...new Set(models.flatMap(({ changes }) => changes?.registry ?? []))];
    this.#byKind = new Map(models.map((model) => [model.kind, model]));
    for (const kind of composition.byKind.keys()) this.changing(kind);
    for (const kind of composition.exchanges.keys()) this.model(kind);
    for (const { kind } of composition.services) this.model(kind);
    for (const module of composition.modules)
      for (const tag of Object.keys(module.messages)) this.messageModel({ _tag: tag as ModuleMessage["_tag"] });
  }

  model(kind: string): Model {
    const model = this.#byKind.get(kind);
    if (model === undefined) throw new Error(`callers use no command of the kind ${kind}`);
    return model;
  }

  modelOf({ kind }: Meant): Model {
    return this.model(kind);
  }

  messageModel({ _tag }: ModuleMessage): MessageModel {
    const model = this.#messages[_tag];
    if (model === undefined) throw new Error(`nobody can look into a ${_tag}`);
    return model;
  }

  changing(kind: string): Changing {
    const { changes } = this.model(kind);
    if (changes === undefined) throw new Error(`nothing is proposed of the kind ${kind}`);
    return changes;
  }

  /** What a proposal makes of a subject; throws for what no member would prepare. */
  changeOf(proposal: Pick<Proposal, "kind" | "effects">): Change {
    return this.changing(proposal.kind).changeOf(proposal);
  }

  /** The subject that an answer shows, and its state there; undefined where it shows none. */
  shownIn(answer: Answer): { readonly subject: Subject; readonly shown: Shown } | undefined {
    for (const subject of this.subjects) {
      const shown = subject.shownIn(answer);
      if (shown !== undefined) return { subject, shown };
    }
    return undefined;
  }

  /** The revision of a subject in some rows, by its ref; 0 where it is not there. */
  revisionIn(view: RowView, ref: string): number {
    for (const subject of this.subjects) {
      const row = rowAt(view, subject, ref);
      if (row !== undefined) return subject.revisionOf(row);
    }
    return 0;
  }

  /** The registry root's set and its count, made anew from some rows. */
  contentsOf(crypto: Crypto, view: RowView): { readonly set: SetAccumulator; readonly count: number } {
    let set = crypto.emptySet;
    let count = 0;
    for (const subject of this.subjects)
      for (const [, row] of rowsOf(view, subject)) {
        set = subject.addTo(crypto, set, row);
        if (subject.isCounted) count += 1;
      }
    for (const each of this.#covered) for (const [, row] of rowsOf(view, each)) set = each.addTo(crypto, set, row);
    return { set, count };
  }
}

/** The row of a subject. */
export const rowAt = (view: RowView, { table }: Subject, ref: string): object | undefined =>
  // A subject's table is one of those in the store, whichever module brought it.
  view.get(table as "approvers", ref);

/** The rows of all subjects of a kind. */
export const rowsOf = (
  view: RowView,
  { table }: Pick<Subject, "table">,
): ReadonlyArray<readonly [ref: string, row: object]> => {
  const rows: Array<readonly [string, object]> = [];
  for (let after = ""; ; ) {
    const page = view.scan(table as "approvers", after, PAGE);
    for (const { key, row } of page) rows.push([key, row]);
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return rows;
    after = last.key;
  }
};
