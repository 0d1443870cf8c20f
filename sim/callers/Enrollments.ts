/**
 * Registrars and holders: they ask for options, answer them honestly, twice, late,
 * with another authenticator, with one that is registered already, or wrongly.
 */
import type { Unit } from "../base/Choices.ts";
import { type Finish, type Flaw, flaws, type Invite, type Invited } from "../requests/EnrollmentRequests.ts";
import type { World } from "../world/World.ts";

/** Invitations in the hands of holders. */
const HELD = 64;
/** Responses that may be sent again. */
const SENT = 64;
/** How many of ten wrong responses have each flaw. */
const OF_WRONG = [2, 2, 3, 3];

export class Enrollments {
  readonly #world: World;
  readonly #held: Array<Invited> = [];
  readonly #sent: Array<Finish> = [];
  /** Responses that have enrolled an approver. */
  readonly #enrolled: Array<Finish> = [];
  #kept = 0;
  #keptEnrolled = 0;
  #keptSent = 0;
  #nextCredential = 1;

  constructor(world: World) {
    this.#world = world;
  }

  invite(id: string, team: string): Invite {
    return this.#world.commands.enrollment.invite(id, team);
  }

  /** A caller was told of a session. */
  hold(invited: Invited): void {
    this.#held[this.#kept++ % HELD] = invited;
  }

  /** A response that has enrolled an approver; its authenticator may be asked again. */
  enrolled(finish: Finish): void {
    this.#enrolled[this.#keptEnrolled++ % SENT] = finish;
  }

  #any<A>(unit: Unit, label: string, all: ReadonlyArray<A>): A | undefined {
    return all[unit.between(label, 0, 0, all.length - 1, 0, HELD - 1)];
  }

  /** A response that was sent before, to the letter or written anew. */
  #again(unit: Unit): Finish | undefined {
    const sent = this.#any(unit, "response", this.#sent);
    if (sent === undefined || !unit.chance("is written anew", 400)) return sent;
    this.#world.marks.add("a response was written anew");
    return this.#world.commands.enrollment.rewritten(sent);
  }

  /**
   * A response to some options, or one that was sent before; undefined where nobody holds an invitation.
   *
   * @param freshKey the number of a key that nobody has
   * @param knownKey the number of one that a caller registered, if any, most wanted for this id
   */
  response(unit: Unit, freshKey: () => number, knownKey: (id: string) => number | undefined): Finish | undefined {
    if (this.#sent.length > 0 && unit.chance("again", 200)) return this.#again(unit);
    const invited = this.#any(unit, "invitation", this.#held);
    if (invited === undefined) return undefined;
    const { wrongResponses } = this.#world.plan.workload;
    const weights = [1_000 - wrongResponses, ...OF_WRONG.map((each) => (each * wrongResponses) / 10)];
    const flaw = unit.named<Flaw>("flaw", "nothing", flaws, weights);
    // A credential that is there already comes with its own key, as an authenticator keeps it.
    const isKnown = this.#enrolled.length > 0 && unit.chance("a known authenticator", 200);
    const other = isKnown ? this.#any(unit, "authenticator", this.#enrolled) : undefined;
    const known = other === undefined && unit.chance("a known key", 200) ? knownKey(invited.invite.id) : undefined;
    const key = other?.key ?? known ?? freshKey();
    const finish = this.#world.commands.enrollment.finish(invited, {
      key,
      credential: other === undefined ? this.#nextCredential++ : other.credential,
      signCount: unit.between("counter", 1, 1, 200),
      flaw,
    });
    this.#sent[this.#keptSent++ % SENT] = finish;
    return finish;
  }
}
