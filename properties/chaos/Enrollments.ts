/** Invitations in the hands of holders, and the responses that they and others make to them. */
import {
  type EnrollmentRequests,
  type Finish,
  type Flaw,
  flaws,
  type Invited,
} from "../../sim/requests/EnrollmentRequests.ts";
import type { Chance } from "./Chance.ts";

const REMEMBERED = 64;

const wrong = flaws.filter((flaw) => flaw !== "nothing") as [Flaw, ...ReadonlyArray<Flaw>];

/** The last few things added. */
class Recent<A> {
  readonly #all: Array<A> = [];
  #added = 0;

  add(each: A): void {
    this.#all[this.#added++ % REMEMBERED] = each;
  }

  any(random: Chance): A | undefined {
    return this.#all[random.below(Math.max(1, this.#all.length))];
  }
}

type Authenticator = Pick<Finish, "key" | "credential">;

/** Numbers of sample keys. */
export interface Keys {
  /** A fresh one. */
  readonly fresh: () => number;
  /** One that a caller has registered; undefined where there is none. */
  readonly known: () => number | undefined;
}

export class Enrollments {
  readonly #requests: EnrollmentRequests;
  readonly #held = new Recent<Invited>();
  readonly #sent = new Recent<Finish>();
  /** Responses that have enrolled an approver. */
  readonly #enrolled = new Recent<Finish>();
  #nextCredential = 1;

  constructor(requests: EnrollmentRequests) {
    this.#requests = requests;
  }

  /** A caller was told of a session. */
  hold(invited: Invited): void {
    this.#held.add(invited);
  }

  /** A response that has enrolled an approver; its authenticator may be asked again. */
  enrolled(finish: Finish): void {
    this.#enrolled.add(finish);
  }

  /** An invitation that a caller was told of: open, finished or expired. */
  anyHeld(random: Chance): Invited | undefined {
    return this.#held.any(random);
  }

  /** A response that was sent before. */
  anySent(random: Chance): Finish | undefined {
    return this.#sent.any(random);
  }

  /** An honest response by a new authenticator. */
  fresh(random: Chance, invited: Invited, keys: Keys): Finish {
    return this.#send(random, invited, this.#new(keys.fresh()), "nothing");
  }

  /** An honest response: by a new authenticator, or now and then by one that has a credential or a key already. */
  honest(random: Chance, invited: Invited, keys: Keys): Finish {
    const other = random.happens(100) ? this.#enrolled.any(random) : undefined;
    const known = random.happens(100) ? keys.known() : undefined;
    // A credential that is there already comes with its own key, as an authenticator keeps it.
    return this.#send(random, invited, other ?? this.#new(known ?? keys.fresh()), "nothing");
  }

  /** A response that must be refused and must leave the invitation as it was. */
  wrong(random: Chance, invited: Invited, keys: Keys): Finish {
    return this.#send(random, invited, this.#new(keys.fresh()), random.pick(wrong));
  }

  #new(key: number): Authenticator {
    return { key, credential: this.#nextCredential++ };
  }

  #send(random: Chance, invited: Invited, { key, credential }: Authenticator, flaw: Flaw): Finish {
    const finish = this.#requests.finish(invited, { key, credential, signCount: random.between(1, 200), flaw });
    this.#sent.add(finish);
    return finish;
  }
}
