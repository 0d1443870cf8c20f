/** What callers ask for, whatever it is. */
import type { Call } from "../../core/protocol/Forward.ts";

/** A request as its caller means it: each kind has more to it, which its model knows. */
export interface Meant {
  /** Of the command, or of the exchange, that it asks for. */
  readonly kind: string;
}

/** The same with the request itself. */
export interface Asked extends Meant {
  readonly call: Call;
}

/** What its bearer must be allowed to, and what a bearer is allowed to who may not ask for it. */
export interface Permission {
  readonly needed: string;
  readonly other: string;
  /** False where the request itself authorizes it: any token will do that is one. */
  readonly isNeeded: boolean;
}
