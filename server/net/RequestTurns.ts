/**
 * Requests begin by turns: one of each host, and of a host one of each of its connections; after a few the event loop
 * goes round, so that what was begun goes on. So nobody waits for all that another one has sent at once, however many
 * connections that came by.
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Duplex } from "node:stream";
import { addressKey } from "./AddressKey.ts";

/** Requests that begin before the event loop goes round: some milliseconds of work. */
const BEGUN_IN_TURN = 8;

interface Waiting {
  readonly response: ServerResponse;
  readonly begin: () => void;
}

/** Requests of one connection, oldest first. */
type Line = Array<Waiting>;

/** The first key of a map, moved behind all others. */
const nextOf = <K, V>(map: Map<K, V>): readonly [K, V] | undefined => {
  for (const entry of map) {
    map.delete(entry[0]);
    map.set(...entry);
    return entry;
  }
  return undefined;
};

export class RequestTurns {
  /** The lines of each host; of hosts, and of a host's connections, whose turn it is stands first. */
  readonly #hosts = new Map<string, Map<Duplex, Line>>();
  readonly #laterTurn: (go: () => void) => void;
  #begun = 0;
  #isPlanned = false;

  /** @param laterTurn calls back once, after whatever else the event loop has to do */
  constructor(laterTurn: (go: () => void) => void = setImmediate) {
    this.#laterTurn = laterTurn;
  }

  /** Begins a request in its turn, which is at once where nobody waits; never, where its connection is gone by then. */
  take({ socket }: Pick<IncomingMessage, "socket">, response: ServerResponse, begin: () => void): void {
    this.#plan();
    if (this.#hosts.size === 0 && this.#begun < BEGUN_IN_TURN) {
      this.#begun += 1;
      return begin();
    }
    const host = addressKey(socket.remoteAddress);
    const lines = this.#hosts.get(host) ?? new Map<Duplex, Line>();
    this.#hosts.set(host, lines);
    const line = lines.get(socket) ?? [];
    lines.set(socket, line);
    line.push({ response, begin });
  }

  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    this.#laterTurn(() => {
      this.#isPlanned = false;
      this.#begun = 0;
      if (this.#hosts.size === 0) return;
      this.#plan();
      while (this.#begun < BEGUN_IN_TURN && this.#beginNext()) continue;
    });
  }

  /** Whether somebody waited. */
  #beginNext(): boolean {
    const [host, lines] = nextOf(this.#hosts) ?? [];
    const [socket, line] = lines === undefined ? [] : (nextOf(lines) ?? []);
    const first = line?.shift();
    if (host === undefined || lines === undefined || socket === undefined) return false;
    if (line?.length === 0) lines.delete(socket);
    if (lines.size === 0) this.#hosts.delete(host);
    if (first === undefined || first.response.destroyed || socket.destroyed) return true;
    this.#begun += 1;
    first.begin();
    return true;
  }
}
