/**
 * Bytes of long answers that were made and not read yet: in all, of one caller and from one address. Without a bound,
 * whoever asks for many pages at once and reads none would take this process's memory.
 */
import type { ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { addressKey } from "../net/AddressKey.ts";
import { type BodyBounds, BodyBudget } from "../../runtime/BodyBudget.ts";

const MEBIBYTE = 1024 * 1024;
/** Of one caller, at least one page of any size; those who read have hardly more than that at any moment. */
const usual: BodyBounds = { all: 64 * MEBIBYTE, ofActor: 8 * MEBIBYTE, ofAddress: 32 * MEBIBYTE };
/** The description of the API sixteen times from one address: whoever reads it is one of those who do at that moment. */
const ofStrangers: BodyBounds = { all: 32 * MEBIBYTE, ofActor: 32 * MEBIBYTE, ofAddress: 8 * MEBIBYTE };

/** The caller of answers for which nobody needs a token; these have room apart, and take none of those who have one. */
export const STRANGERS = "";

export class AnswerRoom {
  readonly #callers: BodyBudget;
  readonly #strangers: BodyBudget;
  /** How to give back what each connection holds: of answers that wait behind others, Node tells no end. */
  readonly #held = new WeakMap<Socket, Set<() => void>>();

  constructor(bounds = usual, strangers = ofStrangers) {
    this.#callers = new BodyBudget(bounds);
    this.#strangers = new BodyBudget(strangers);
  }

  /** Bytes held now. */
  get held(): number {
    return this.#callers.held + this.#strangers.held;
  }

  /** Takes room for an answer until it is read or its connection ends; false where there is none. */
  take(caller: string, bytes: number, socket: Socket, response: ServerResponse): boolean {
    // Nobody will read it, and nothing would tell its end.
    if (socket.destroyed) return true;
    const budget = caller === STRANGERS ? this.#strangers : this.#callers;
    const account = budget.open({ actor: caller, address: addressKey(socket.remoteAddress) });
    if (account.take(bytes) !== undefined) return false;
    const held = this.#heldBy(socket);
    const giveBack = (): void => {
      if (held.delete(giveBack)) account.close();
    };
    held.add(giveBack);
    response.once("close", giveBack);
    return true;
  }

  #heldBy(socket: Socket): Set<() => void> {
    const known = this.#held.get(socket);
    if (known !== undefined) return known;
    const held = new Set<() => void>();
    this.#held.set(socket, held);
    socket.once("close", () => {
      for (const giveBack of held) giveBack();
    });
    return held;
  }
}
