/** What answers say beside the approver itself: that it is new, why it cannot be, and how it looks. */
import { effectsOf } from "../../core/commands/Effects.ts";
import type { Answer } from "../../core/Action.ts";
import type { RejectionCode } from "../../core/base/Rejection.ts";
import type { Rows, Write } from "../../core/Tables.ts";
import { recordJson } from "../../server/http/ApproverRecord.ts";
import { Violation } from "../../sim/base/Violation.ts";
import { type Asked, isOfKeys, type Said } from "./History.ts";

type Finish = Extract<Said, { readonly kind: "FINISH" }>;
type Replacement = Extract<Said, { readonly kind: "METADATA" }>;

/** Where the coordinates of a canonical ES256 key begin (RFC 9053 section 7.1.1), 32 bytes each. */
const X_AT = 10;
const Y_AT = 45;

const fieldsOf = (descriptor: string): { readonly [name: string]: unknown } => JSON.parse(descriptor);

/** The key in a descriptor as a descriptor that signs has it, computed here by hand: passkeys share their keys with those. */
const keyNameOf = (descriptor: string): string => {
  const { type, publicKeyCose } = fieldsOf(descriptor);
  if (type !== "WEBAUTHN") return descriptor;
  const cose = Buffer.from(String(publicKeyCose), "base64url");
  const isOdd = ((cose[Y_AT + 31] ?? 0) & 1) === 1;
  const point = Buffer.concat([Uint8Array.of(isOdd ? 3 : 2), cose.subarray(X_AT, X_AT + 32)]);
  return `{"algorithm":"P256","publicKey64":"${point.toString("base64")}","type":"SIGNATURE","version":1}`;
};

const credentialNameOf = (descriptor: string): string | undefined => {
  const { type, rpId, credentialId } = fieldsOf(descriptor);
  return type === "WEBAUTHN" ? `${rpId} ${credentialId}` : undefined;
};

/** Compares every answer with what was stored by then. Each method throws {@link Violation}. */
export class Truth {
  /** By ref and revision: every approver that any peer has stored so; there is one, unless no peer has kept it. */
  readonly #revisions = new Map<string, Array<Rows["approvers"]>>();
  /** Ref to the request that was told that it created the approver. */
  readonly #created = new Map<string, string>();
  /** Key to the ids that any peer has stored it for. */
  readonly #owners = new Map<string, Set<string>>();
  /** Credentials that any peer has stored. */
  readonly #credentials = new Set<string>();
  /** By ref, as they were first stored. */
  readonly #observations = new Map<string, Rows["observations"]>();
  /** The completion of each session, by registration id. */
  readonly #completions = new Map<string, { readonly descriptor: string; readonly signCount: number | undefined }>();
  /** The incarnations that a session pins, by registration id, and those in which peers were restored: by peer id. */
  readonly #pins = new Map<string, ReadonlyArray<number>>();
  readonly #restored = new Map<number, number>();
  /** The newest epoch that a peer has stored, and that in which each session was opened. */
  #epoch = 0;
  readonly #openedIn = new Map<string, number>();
  /** Registration id to the request that was told of it. */
  readonly #offered = new Map<string, string>();

  stored(writes: ReadonlyArray<Write>): void {
    for (const write of writes) {
      if (write.op === "remove") continue;
      if (write.table === "approvers") this.#approver(write.row);
      if (write.table === "topology") this.#epoch = Math.max(this.#epoch, write.row.topology.epoch);
      if (write.table === "sessions") {
        this.#pins.set(write.key, write.row.session.incarnations);
        if (!this.#openedIn.has(write.key)) this.#openedIn.set(write.key, this.#epoch);
      }
      if (write.table === "restore")
        this.#restored.set(write.row.restoration.peerId, write.row.restoration.incarnation);
      if (write.table === "observations" && !this.#observations.has(write.key))
        this.#observations.set(write.key, write.row);
      if (write.table === "certificates") {
        const effects = effectsOf(write.row.proposal);
        if (effects?.kind === "FINISH")
          this.#completions.set(effects.registrationId, {
            descriptor: effects.approver.descriptor,
            signCount: effects.observations.signCount,
          });
      }
    }
  }

  #approver(row: Rows["approvers"]): void {
    const { descriptor, id, ref, revision } = row;
    const name = `${ref} ${revision}`;
    const known = this.#revisions.get(name) ?? [];
    this.#revisions.set(name, known);
    if (!known.some((each) => JSON.stringify(each) === JSON.stringify(row))) known.push(row);
    const key = keyNameOf(descriptor);
    const owners = this.#owners.get(key) ?? new Set();
    this.#owners.set(key, owners.add(id));
    const credential = credentialNameOf(descriptor);
    if (credential !== undefined) this.#credentials.add(credential);
  }

  replied(asked: Asked, answer: Answer, body: string): void {
    const { requestId, said } = asked;
    if (answer._tag === "Offered") this.#assertNew(requestId, answer.offer.registrationId);
    if (answer._tag === "Rejected") return this.#refused(requestId, said, answer.rejection.code);
    if (answer._tag !== "Registered" && answer._tag !== "Replaced") return;
    const { ref } = answer.approver;
    this.#assertLooks(answer.approver, body, `request ${requestId}`);
    if (answer._tag === "Replaced" || !answer.created) return;
    const first = this.#created.get(ref);
    if (first !== undefined)
      throw new Violation("S14", `request ${first} created ${ref}`, `request ${requestId} created it once more`);
    this.#created.set(ref, requestId);
  }

  read(slot: number, found: Rows["approvers"], body: string): void {
    this.#assertLooks(found, body, `a read from peer ${slot}`);
  }

  #assertNew(requestId: string, registrationId: string): void {
    const other = this.#offered.get(registrationId);
    if (other !== undefined)
      throw new Violation(
        "S14",
        `request ${other} was told of session ${registrationId}`,
        `so was request ${requestId}, of which each has its own`,
      );
    this.#offered.set(registrationId, requestId);
  }

  /** A refusal that names what stands in the way is true of what was stored by then. */
  #refused(requestId: string, said: Said, code: RejectionCode): void {
    if (said.kind === "OPTIONS" || isOfKeys(said)) return;
    if (said.kind === "METADATA") return this.#assertPrecondition(requestId, said, code);
    if (code === "KEY_ALREADY_REGISTERED") return this.#assertOwned(requestId, said);
    if (said.kind === "REGISTER" || !said.isHonest) return;
    const why = this.#falseWhy(said, code);
    if (why !== undefined) throw new Violation("S14", `request ${requestId} was refused with ${code}`, why);
  }

  /** 428 is for a missing If-Match alone, which gets no 412. Whether a revision is stale is judged by its history (H1). */
  #assertPrecondition(requestId: string, { ifMatch }: Replacement, code: RejectionCode): void {
    const isUntrue =
      (code === "PRECONDITION_REQUIRED" && ifMatch !== undefined) ||
      (code === "PRECONDITION_FAILED" && ifMatch === undefined);
    if (isUntrue)
      throw new Violation("S14", `request ${requestId} was refused with ${code}`, `its If-Match was ${ifMatch}`);
  }

  #assertOwned(requestId: string, { descriptor, id }: Pick<Finish, "descriptor" | "id">): void {
    const owners = [...(this.#owners.get(keyNameOf(descriptor)) ?? [])];
    if (owners.every((each) => each === id))
      throw new Violation(
        "S14",
        `request ${requestId} was told that another id than ${id} owns its key`,
        `no peer had stored the key for any other (${owners.length === 0 ? "nor for any" : owners.join(", ")})`,
      );
  }

  /** Why an honest response to an invitation cannot have been refused in this way. */
  #falseWhy({ credentialName, descriptor, registrationId, signCount }: Finish, code: RejectionCode) {
    switch (code) {
      case "CREDENTIAL_ALREADY_REGISTERED":
        return this.#credentials.has(credentialName) ? undefined : "no peer had stored the credential";
      case "REGISTRATION_NOT_FOUND":
        return this.#isVoid(registrationId) ? undefined : `session ${registrationId} was told to a registrar`;
      case "INVALID_CEREMONY":
        return "the response is an honest one";
      case "REGISTRATION_COMPLETED": {
        const done = this.#completions.get(registrationId);
        if (done === undefined) return `no peer had completed session ${registrationId}`;
        return done.descriptor === descriptor && done.signCount === signCount
          ? "this very response had completed it"
          : undefined;
      }
      default:
        return undefined;
    }
  }

  /**
   * Whether a member was restored since a session was opened: it may lack that row, and all others hold it void. So does
   * everybody after the end of its epoch.
   */
  #isVoid(registrationId: string): boolean {
    if ((this.#openedIn.get(registrationId) ?? this.#epoch) < this.#epoch) return true;
    // Peers of a run are numbered from 1, and members stand in that order.
    return (this.#pins.get(registrationId) ?? []).some(
      (pinned, index) => (this.#restored.get(index + 1) ?? 0) > pinned,
    );
  }

  /** A record equals its revision as it was stored, to the byte. */
  #assertLooks({ ref, revision }: Rows["approvers"], body: string, what: string): void {
    const observations = this.#observations.get(ref);
    const stored = (this.#revisions.get(`${ref} ${revision}`) ?? []).map((approver) =>
      recordJson({ approver, observations }),
    );
    // One that no peer has stored is found by others (S14, S25).
    if (stored.length > 0 && !stored.includes(body))
      throw new Violation("S12", `approver ${ref} was stored as ${stored.join(" or ")}`, `${what} was shown ${body}`);
  }
}
