/** Lists as callers get them of a peer: by the code that the server runs, a part at a time, which others come between. */
import { Either } from "effect";
import { approverPage, type NextPage } from "../../runtime/ApproverPages.ts";
import { cursorOf, startOf } from "../../runtime/ListCursor.ts";
import { type ListQuery, parseListQuery } from "../../runtime/ListQuery.ts";
import { readRefusal } from "../../runtime/Reads.ts";
import type { Checkers } from "../checkers/Checkers.ts";
import type { Cryptography } from "../crypto/Cryptography.ts";
import type { PageAsked, PageOutcome } from "../oracle/ListRequests.ts";
import type { Ground } from "./Ground.ts";
import type { SimPeer } from "./SimPeer.ts";
import type { Tampering } from "./Tampering.ts";

interface Ports {
  readonly checkers: Checkers;
  readonly cryptography: Cryptography;
  readonly tampering: Tampering;
}

/** Of a query that is none nothing is looked for. */
const NOTHING: ListQuery = { filter: { id: undefined, type: undefined, metadata: [] }, limit: 1, cursor: undefined };

/** A page that is being read. */
interface Reading {
  readonly peer: SimPeer;
  readonly process: number;
  readonly asked: PageAsked;
  readonly slices: ReturnType<typeof approverPage>;
  readonly refs: Array<string>;
  readonly pauseMicros: number;
  transactions: number;
  readonly done: (outcome: PageOutcome) => void;
}

export class Lists {
  readonly #ground: Ground;
  readonly #ports: Ports;
  readonly #listing;
  readonly #listed;

  constructor(ground: Ground, ports: Ports) {
    this.#ground = ground;
    this.#ports = ports;
    this.#listing = ports.checkers.hooks("listing");
    this.#listed = ports.checkers.hooks("listed");
  }

  /**
   * Asks a peer for a page, and tells what came of it, once.
   *
   * @param pauseMicros between the parts of the page; with 0 all of it is of one moment
   */
  page(peer: SimPeer, asked: PageAsked, pauseMicros: number, done: (outcome: PageOutcome) => void): void {
    const { crypto } = this.#ports.cryptography;
    const { process, state, lacksIndex } = peer;
    // Damage that nobody has found yet may hide any row of the index, but where it was done before rows were verified.
    const isUnfound = peer.isDamaged && state?.fitness.integrityFault === undefined;
    const isDoubtful = isUnfound && !(peer.isVerified && peer.disk.isHarmedBefore);
    if (state === undefined || lacksIndex || isDoubtful || this.#ground.pauses.waitingFor(peer) !== undefined)
      return done("gone");
    for (const hook of this.#listing) hook(peer, asked);
    const parse = this.#ports.tampering.query?.(parseListQuery) ?? parseListQuery;
    const query = parse(asked.query);
    const { filter, limit, cursor } = Either.getOrElse(query, () => NOTHING);
    const from = cursor === undefined ? "" : startOf(crypto, filter, cursor);
    const pages = this.#ports.tampering.pages?.(approverPage) ?? approverPage;
    const ports = {
      view: peer.disk,
      state: () => peer.state ?? state,
      crypto,
      settings: peer.settings,
      integrityLost: (where: string) => {
        peer.dispatch({ _tag: "IntegrityLost", where });
        this.#ground.settle(peer);
      },
    };
    const slices = pages(ports, { filter, from: from ?? "", limit });
    const reading = { peer, process, asked, slices, refs: [], pauseMicros, transactions: 0, done };
    const refusal = Either.isLeft(query) ? readRefusal(state) : undefined;
    // Whether this peer may answer is judged before the query is.
    if (refusal !== undefined) this.#tell(reading, { _tag: "Refused", code: refusal.code });
    else if (Either.isLeft(query)) this.#tell(reading, { _tag: "QueryRefused" });
    else if (from === undefined) this.#tell(reading, { _tag: "CursorRefused" });
    else this.#goOn(reading);
  }

  /** Takes parts of the page until it is time to pause, or until it ends. */
  #goOn(reading: Reading): void {
    const { peer, process, slices, refs, pauseMicros } = reading;
    const { scheduler, pauses } = this.#ground;
    // A damage that is found, in this page or by others, ends it in the next part.
    if (!peer.isUp || peer.process !== process) return this.#tell(reading, "gone");
    for (;;) {
      const isAsleep = pauses.waitingFor(peer) !== undefined;
      if (isAsleep) return scheduler.after(pauseMicros, () => this.#goOn(reading));
      const before = peer.transactions;
      const slice = slices.next();
      reading.transactions += peer.transactions - before;
      if (slice.done === true) return this.#end(reading, slice.value);
      for (const { approver } of slice.value) refs.push(approver.ref);
      if (pauseMicros > 0) return scheduler.after(pauseMicros, () => this.#goOn(reading));
    }
  }

  #end(reading: Reading, end: Exclude<ReturnType<Reading["slices"]["next"]>["value"], ReadonlyArray<unknown>>): void {
    const { asked, refs } = reading;
    const { crypto } = this.#ports.cryptography;
    if (Either.isLeft(end)) return this.#tell(reading, { _tag: "Refused", code: end.left.code });
    const next: NextPage = end.right;
    this.#tell(reading, {
      _tag: "Page",
      refs,
      next: next === undefined ? undefined : cursorOf(crypto, asked.filter, next),
    });
  }

  #tell({ peer, asked, transactions, done }: Reading, outcome: PageOutcome): void {
    for (const hook of this.#listed) hook(peer, asked, outcome, transactions);
    done(outcome);
  }
}
