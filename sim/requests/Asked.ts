/** What callers ask for, whatever it is. */
import type { RejectionCode } from "../../core/base/Rejection.ts";
import type { Call } from "../../core/protocol/Forward.ts";
import type { Rule } from "./Rules.ts";

/** A request as its caller means it: each kind has more to it, which its model knows. */
export interface Meant {
  /** The name of the command or exchange that it asks for. */
  readonly kind: string;
}

/** The same with the request itself. */
export interface Asked extends Meant {
  readonly call: Call;
  /** The limit of the contract that it just keeps, or just breaks; absent for most. */
  readonly edge?: Edge;
  /** Where it is another one than all requests of its kind need. */
  readonly permission?: Permission;
}

/** How a request stands to a rule of the contract. */
export interface Edge {
  readonly rule: Rule;
  readonly how: string;
  /** The refusal that it must meet, if any; absent for one that keeps the rule. */
  readonly refusedAs?: RejectionCode;
}

/** The permission that its bearer needs, and one that is not enough. */
export interface Permission {
  readonly needed: string;
  readonly other: string;
  /** False where the request itself authorizes it: any valid token will do. */
  readonly isNeeded: boolean;
}
