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
const OF_WRONG = [2, 2, 2, 2, 2];
/** How the counter of a known authenticator has moved since. */
const moves = ["up", "not", "back", "to zero", "as far as it can"] as const;
const MOST_COUNT = 0xffff_ffff;

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
    const isDone = this.#enrolled.length > 0 && unit.chance("that enrolled", 500);
    const sent = this.#any(unit, "response", isDone ? this.#enrolled : this.#sent);
    if (sent === undefined || !unit.chance("is written anew", 400)) return sent;
    this.#world.marks.add("a response was written anew");
    return this.#world.commands.enrollment.rewritten(sent);
  }

  /** What an authenticator counts; it is written down, and decides nothing. */
  #counter(unit: Unit, known: Finish | undefined): number {
    if (known === undefined) return unit.between("counter", 1, 0, 200);
    const before = known.signCount;
    const move = unit.named("counter moves", "up", moves, [1, 1, 1, 1, 1]);
    if (move === "back") this.#world.marks.add("FINISH: a counter went back");
    if (move === "up") return Math.min(MOST_COUNT, before + unit.between("by", 1, 1, 0x1_0000));
    if (move === "not") return before;
    if (move === "back") return Math.max(0, before - 1);
    return move === "to zero" ? 0 : MOST_COUNT;
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
    const { id: rpId } = invited.offer.publicKey.rp;
    const elsewhere = this.#enrolled.filter((each) => each.rpId !== rpId);
    const authenticators = elsewhere.length > 0 ? elsewhere : this.#enrolled;
    const isKnown = authenticators.length > 0 && unit.chance("a known authenticator", elsewhere.length > 0 ? 600 : 200);
    const other = isKnown ? this.#any(unit, "authenticator", authenticators) : undefined;
    const known = other === undefined && unit.chance("a known key", 200) ? knownKey(invited.invite.id) : undefined;
    // At another relying party a credential is another one, and may have another key.
    const isElsewhere = other !== undefined && other.rpId !== rpId;
    const own = isElsewhere && unit.chance("with a key of its own", 700) ? freshKey() : other?.key;
    const finish = this.#world.commands.enrollment.finish(invited, {
      key: own ?? known ?? freshKey(),
      credential: other === undefined ? this.#nextCredential++ : other.credential,
      signCount: this.#counter(unit, other),
      flaw,
      edge: isElsewhere ? { rule: "2.3 credential", how: "one id at two relying parties" } : undefined,
    });
    this.#sent[this.#keptSent++ % SENT] = finish;
    return finish;
  }
}
