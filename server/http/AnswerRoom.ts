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

export class AnswerRoom {
  readonly #budget: BodyBudget;
  /** How to give back what each connection holds: of answers that wait behind others, Node tells no end. */
  readonly #held = new WeakMap<Socket, Set<() => void>>();

  constructor(bounds = usual) {
    this.#budget = new BodyBudget(bounds);
  }

  /** Bytes held now. */
  get held(): number {
    return this.#budget.held;
  }

  /** Takes room for an answer until it is read or its connection ends; false where there is none. */
  take(caller: string, bytes: number, socket: Socket, response: ServerResponse): boolean {
    // Nobody will read it, and nothing would tell its end.
    if (socket.destroyed) return true;
    const account = this.#budget.open({ actor: caller, address: addressKey(socket.remoteAddress) });
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
