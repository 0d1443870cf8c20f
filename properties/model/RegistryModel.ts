/** The registry as callers may picture it: a key has one owner, promises are kept, open requests may have been done. */
import type { Answer } from "../../core/Action.ts";
import type { Cluster } from "../cluster/Cluster.ts";

export interface Request {
  readonly id: string;
  /** Names a key; equal numbers are equal keys. */
  readonly key: number;
}

/** The picture; changed by commands as answers come in. */
export class RegistryModel {
  /** Every id that ever asked for a key. */
  readonly claims = new Map<number, Set<string>>();
  /** Promises to callers: key to owner, and the refs by id and key. */
  readonly owners = new Map<number, string>();
  readonly refs = new Map<string, string>();
  readonly created = new Set<string>();
  readonly down = new Set<number>();
  readonly cuts = new Set<string>();
  readonly asked: Array<Request> = [];
  nextRequest = 1;

  ask(request: Request): void {
    const claims = this.claims.get(request.key) ?? new Set();
    this.claims.set(request.key, claims.add(request.id));
    this.asked.push(request);
  }

  /** Takes note of an answer. Throws the complaint that a caller would have. */
  told({ id, key }: Request, answer: Answer, wasWhole: boolean): void {
    const name = `${id} with key ${key}`;
    if (answer._tag === "Registered") {
      const { approver, created } = answer;
      if (approver.id !== id) throw new Error(`${name} was answered with ${approver.id}`);
      const owner = this.owners.get(key);
      if (owner !== undefined && owner !== id) throw new Error(`${name} succeeded; the key was promised to ${owner}`);
      const ref = this.refs.get(name);
      if (ref !== undefined && ref !== approver.ref) throw new Error(`${name} has two refs`);
      if (created && this.created.has(name)) throw new Error(`${name} was created twice`);
      if (created && !wasWhole) throw new Error(`${name} was created while a member was away`);
      if (created) this.created.add(name);
      this.owners.set(key, id);
      this.refs.set(name, approver.ref);
      return;
    }
    if (answer._tag !== "Rejected") throw new Error(`${name} was answered ${answer._tag}`);
    if (answer.rejection.code !== "KEY_ALREADY_REGISTERED") return;
    const others = [...(this.claims.get(key) ?? [])].filter((each) => each !== id);
    if (others.length === 0) throw new Error(`${name} was told of another owner; nobody else ever asked for the key`);
    if (this.owners.get(key) === id) throw new Error(`${name} was promised and is refused now`);
  }

  /** Throws when a member lacks something that was promised. */
  assertKept(cluster: Cluster): void {
    for (const [name, ref] of this.refs)
      for (let peerId = 1; peerId <= cluster.total; peerId++)
        if (cluster.row(peerId, "approvers", ref) === undefined)
          throw new Error(`${name} was promised; peer ${peerId} does not have it`);
  }
}
