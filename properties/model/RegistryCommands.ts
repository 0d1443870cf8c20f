/** Events of a cluster, one after another, for fast-check to put together and take apart. */
import fc from "fast-check";
import type { Answer } from "../../core/Action.ts";
import type { Cluster } from "../cluster/Cluster.ts";
import type { RegistryModel, Request } from "./RegistryModel.ts";

type Command = fc.Command<RegistryModel, Cluster>;

/** Longer than a caller waits for an answer, in milliseconds. */
const ANSWER = 11_000;
/** After this the answer to a probe is too old to be relied on. */
const STALE = 1_100;

/** How a run may be made to lie, to show that the model notices. */
export type Lie = (answer: Answer, request: Request) => Answer;
const honest: Lie = (answer) => answer;

const link = (left: number, right: number): string => `${Math.min(left, right)} ${Math.max(left, right)}`;

const send = (model: RegistryModel, cluster: Cluster, through: number, request: Request, lie: Lie): void => {
  const requestId = `q${model.nextRequest++}`;
  const wasWhole = model.down.size === 0;
  model.ask(request);
  cluster.register(through, requestId, request.id, request.key);
  cluster.pass(ANSWER);
  const answer = cluster.answers.get(requestId);
  // No caller waits for an answer at a peer that is down.
  if (model.down.has(through)) return;
  if (answer === undefined) throw new Error(`${request.id} with key ${request.key} was never answered`);
  model.told(request, lie(answer, request), wasWhole);
  model.assertKept(cluster);
};

class Register implements Command {
  readonly #through: number;
  readonly #request: Request;
  readonly #lie: Lie;

  constructor(through: number, request: Request, lie: Lie) {
    this.#through = through;
    this.#request = request;
    this.#lie = lie;
  }

  check(): boolean {
    return true;
  }

  run(model: RegistryModel, cluster: Cluster): void {
    send(model, cluster, this.#through, this.#request, this.#lie);
  }

  toString(): string {
    return `register ${this.#request.id} with key ${this.#request.key} through peer ${this.#through}`;
  }
}

/** Two callers at once: the same request twice, or one key for two ids. */
class Race implements Command {
  readonly #requests: readonly [Request, Request];
  readonly #through: readonly [number, number];

  constructor(requests: readonly [Request, Request], through: readonly [number, number]) {
    this.#requests = requests;
    this.#through = through;
  }

  check({ down }: Readonly<RegistryModel>): boolean {
    return this.#through.every((each) => !down.has(each));
  }

  run(model: RegistryModel, cluster: Cluster): void {
    const sent = this.#requests.map((request, index) => {
      const requestId = `q${model.nextRequest++}`;
      model.ask(request);
      cluster.register(this.#through[index] ?? 1, requestId, request.id, request.key);
      return { request, requestId };
    });
    const wasWhole = model.down.size === 0;
    cluster.pass(ANSWER);
    for (const { request, requestId } of sent) {
      const answer = cluster.answers.get(requestId);
      if (answer === undefined) throw new Error(`${request.id} with key ${request.key} was never answered`);
      model.told(request, answer, wasWhole);
    }
    model.assertKept(cluster);
  }

  toString(): string {
    const each = ({ id, key }: Request, index: number) => `${id} with key ${key} through peer ${this.#through[index]}`;
    return `register at once ${this.#requests.map(each).join(" and ")}`;
  }
}

class Crash implements Command {
  readonly #peer: number;
  readonly #inTheMiddleOf: Request | undefined;

  constructor(peer: number, inTheMiddleOf: Request | undefined) {
    this.#peer = peer;
    this.#inTheMiddleOf = inTheMiddleOf;
  }

  check({ down }: Readonly<RegistryModel>): boolean {
    return !down.has(this.#peer);
  }

  run(model: RegistryModel, cluster: Cluster): void {
    const request = this.#inTheMiddleOf;
    if (request !== undefined) {
      // Its outcome is open, and nobody waits for it any more.
      model.ask(request);
      cluster.register((this.#peer % cluster.total) + 1, `q${model.nextRequest++}`, request.id, request.key);
    }
    cluster.peers.get(this.#peer)?.stop();
    cluster.peers.delete(this.#peer);
    model.down.add(this.#peer);
    cluster.pass(STALE);
  }

  toString(): string {
    const request = this.#inTheMiddleOf;
    return `crash peer ${this.#peer}${request === undefined ? "" : ` while ${request.id} registers key ${request.key}`}`;
  }
}

class Restart implements Command {
  readonly #peer: number;

  constructor(peer: number) {
    this.#peer = peer;
  }

  check({ down }: Readonly<RegistryModel>): boolean {
    return down.has(this.#peer);
  }

  run(model: RegistryModel, cluster: Cluster): void {
    cluster.start(this.#peer);
    model.down.delete(this.#peer);
    cluster.pass(STALE);
  }

  toString(): string {
    return `restart peer ${this.#peer}`;
  }
}

class Partition implements Command {
  readonly #link: readonly [number, number];

  constructor(left: number, right: number) {
    this.#link = [left, right];
  }

  check(): boolean {
    return this.#link[0] !== this.#link[1];
  }

  run(model: RegistryModel): void {
    const name = link(...this.#link);
    if (!model.cuts.delete(name)) model.cuts.add(name);
  }

  toString(): string {
    return `cut or mend between peers ${this.#link.join(" and ")}`;
  }
}

/** Lets no message through a link that is cut. */
export const watchCuts = (model: RegistryModel, cluster: Cluster): void => {
  cluster.tamper = (from, to, message) => (model.cuts.has(link(from, to)) ? undefined : message);
};

const peer = fc.integer({ min: 1, max: 3 });
const request: fc.Arbitrary<Request> = fc.record({
  id: fc.constantFrom("alice", "bob", "carol"),
  key: fc.integer({ min: 1, max: 4 }),
});

/** Sequences of commands for a cluster of three. */
export const registryCommands = (
  maxCommands: number,
  replayPath?: string,
  lie: Lie = honest,
): fc.Arbitrary<Iterable<fc.Command<RegistryModel, Cluster>>> => {
  const register = fc.tuple(peer, request).map(([through, asked]): Command => new Register(through, asked, lie));
  return fc.commands(
    [
      register,
      register,
      fc.tuple(request, request, peer, peer).map(([one, two, left, right]) => new Race([one, two], [left, right])),
      fc.tuple(peer, fc.option(request, { nil: undefined })).map(([each, asked]) => new Crash(each, asked)),
      peer.map((each) => new Restart(each)),
      peer.map((each) => new Restart(each)),
      fc.tuple(peer, peer).map(([left, right]) => new Partition(left, right)),
    ],
    { maxCommands, ...(replayPath === undefined ? {} : { replayPath }) },
  );
};
