/** Callers that change nothing: they ask for versions by refs in all forms, and what policies come to. */
import type { Unit } from "../base/Choices.ts";
import { bearers } from "../oracle/LookupRequests.ts";
import {
  type Approver,
  authority,
  fourEye,
  policyAtEdge,
  policyEdgeNames,
  policyEdgeWeights,
} from "../requests/Policies.ts";
import type { PolicyMeant } from "../requests/Policies.ts";
import { refAs, refFormNames } from "../requests/RefForms.ts";
import type { Command } from "../requests/Commands.ts";
import type { SimPeer } from "../world/SimPeer.ts";
import type { World } from "../world/World.ts";

/** Registrations whose refs callers write into policies. */
const KEPT = 32;
const MOST_ENTRIES = 4;
const BEARER_WEIGHTS = [18, 1, 1];
const EVENLY: ReadonlyArray<number> = refFormNames.map(() => 1);
const entries = ["registered", "of another hash", "its key", "its key in another format"] as const;
const fallbacks = ["DENY", "ALLOW", "ALLOW_WITH_REQUIREMENTS"] as const;

interface Registered {
  readonly ref: string;
  readonly command: Command;
}

export class Inquiries {
  readonly #world: World;
  readonly #registered: Array<Registered> = [];
  #kept = 0;

  constructor(world: World) {
    this.#world = world;
  }

  /** A registration has succeeded, or was repeated. */
  registered(ref: string, command: Command): void {
    if (!this.#registered.some((each) => each.ref === ref)) this.#registered[this.#kept++ % KEPT] = { ref, command };
  }

  /** Asks a peer one of these, at times. */
  ask(unit: Unit, peer: SimPeer): void {
    if (unit.chance("asks for a ref in some form", 400)) this.#get(unit, peer);
    if (unit.chance("asks what a policy comes to", 300)) this.#resolve(unit, peer);
  }

  #any(unit: Unit): Registered | undefined {
    const { length } = this.#registered;
    return length === 0 ? undefined : this.#registered[unit.between("registered", 0, 0, length - 1, 0, KEPT - 1)];
  }

  #get(unit: Unit, peer: SimPeer): void {
    const known = this.#any(unit);
    if (known === undefined) return;
    const { text, kind } = refAs(known.ref, unit.named("form", "whole", refFormNames, EVENLY));
    const bearer = unit.named("bearer", "reader", bearers, BEARER_WEIGHTS);
    const answer = this.#world.lookups.ask(peer, { _tag: "Get", bearer, text, kind });
    if (answer?._tag === "Got") this.#world.marks.add("get: a version");
    else if (answer?._tag === "Refused") this.#world.marks.add(`get: ${answer.code}`);
  }

  #resolve(unit: Unit, peer: SimPeer): void {
    const bearer = unit.named("bearer of the policy", "reader", bearers, BEARER_WEIGHTS);
    const policy = unit.chance("at an edge", 350)
      ? policyAtEdge(unit.named("edge", policyEdgeNames[0] ?? "", policyEdgeNames, policyEdgeWeights))
      : this.#policy(unit);
    if (policy === undefined) return;
    const answer = this.#world.lookups.ask(peer, { _tag: "Resolve", bearer, policy });
    const { marks } = this.#world;
    if (answer?._tag === "Refused") marks.add(`policy: ${answer.code}`);
    if (answer?._tag !== "Resolved") return;
    marks.add("policy: read");
    if (answer.policyDigest !== undefined) marks.add("policy: resolved");
    for (const { code } of answer.entries) if (code !== undefined) marks.add(`policy: ${code}`);
  }

  /** Of approvers that callers know, their keys, and some whom nobody knows. */
  #policy(unit: Unit): PolicyMeant | undefined {
    const isOfKey = unit.chance("of a key", 600);
    const count = unit.between("entries", 1, 1, MOST_ENTRIES);
    const approvers: Array<Approver> = [];
    for (let index = 0; index < count; index++) {
      const known = this.#any(unit);
      if (known === undefined) return undefined;
      const how = unit.named("entry", "registered", entries, isOfKey ? [6, 1, 2, 1] : [6, 1, 0, 0]);
      approvers.push(this.#approver(known, how));
    }
    const m = unit.between("needed", 1, 1, approvers.length, 1, MOST_ENTRIES);
    if (isOfKey) return fourEye(approvers, m, unit.chance("lenient", 500) ? "LENIENT" : "STRICT");
    return authority(approvers, m, unit.named("fallback", "DENY", fallbacks, [1, 1, 2]));
  }

  #approver({ ref, command }: Registered, how: (typeof entries)[number]): Approver {
    if (how === "registered") return { ref, keyName: command.keyName };
    if (how === "of another hash") return { ref: refAs(ref, how).text, keyName: ref };
    const { name, algorithm, submitted64, otherwise64, normal64 } = this.#world.cryptography.sampleKey(command.key);
    const written64 = how === "its key" ? submitted64 : otherwise64[0];
    return { algorithm, submitted64: written64, normal64, keyName: name };
  }
}
