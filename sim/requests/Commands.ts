/**
 * Everything callers ever said: the registrations they sent and the tokens they
 * held. The oracle judges receipts by this alone, never by what a peer computed.
 */
import type { ActorClaims } from "../../core/auth/ActorClaims.ts";
import { utf8Bytes } from "../../core/codec/Utf8.ts";
import type { ActorCheck } from "../../core/auth/ActorCheck.ts";
import type { Call } from "../../core/protocol/Forward.ts";
import type { RequestLine } from "../../core/protocol/Proposal.ts";
import { RecentMap } from "../../runtime/RecentMap.ts";
import { TOKEN_MARK } from "../crypto/SecretMarks.ts";
import type { Cryptography, SampleKey } from "../crypto/Cryptography.ts";
import type { Asked, Edge, Meant, Permission } from "./Asked.ts";
import { bodyOf } from "./Bodies.ts";
import { granting, withholding } from "./Grants.ts";
import { labelsJson } from "./Labels.ts";
import { EnrollmentRequests, type Finish, type Invite, isFinish, isInvite } from "./EnrollmentRequests.ts";
import { metadataPath, REGISTER_PATH } from "./Paths.ts";

/** A registration as its caller means it. */
export interface Command {
  readonly kind: "REGISTER";
  readonly id: string;
  readonly key: number;
  readonly team: string;
  /** The request; a caller that repeats a command sends the very same one. */
  readonly call: Call;
  /** SHA-256 of the body, by the world's own crypto. */
  readonly bodyDigest: string;
  /** The canonical JSON of its descriptor, written here by hand. */
  readonly descriptor: string;
  /** What its caller calls the key: another name for another key. */
  readonly keyName: string;
  readonly edge?: Edge;
}

/** How a registration is written, beside what it says. */
export interface Form {
  /** Which of the key's formats it is submitted in, from 0, modulo how many there are. */
  readonly format: number;
  /** Whether its metadata are in the order in which they are stored. */
  readonly isSorted: boolean;
  /** Whether the key's bytes are given as a key of another algorithm, which is another key; where there is one. */
  readonly isTwin: boolean;
}

/** As callers write it at first. */
export const USUAL: Form = { format: 0, isSorted: false, isTwin: false };

/** A replacement of metadata as its caller means it. */
export interface Replacement {
  readonly kind: "METADATA";
  readonly ref: string;
  /** What If-Match says, to the character; absent without the header. */
  readonly ifMatch: string | undefined;
  /** Undefined where everything is cleared. */
  readonly team: string | undefined;
  readonly call: Call;
}

export const isCommand = (asked: Meant): asked is Command => asked.kind === "REGISTER";
export const isReplacement = (asked: Meant): asked is Replacement => asked.kind === "METADATA";

/** The first is the usual one. */
export const tokenKinds = ["good", "short", "expired", "forbidden", "foreign", "forged"] as const;
export type TokenKind = (typeof tokenKinds)[number];

export interface Token {
  readonly kind: TokenKind;
  readonly text: string;
  readonly check: ActorCheck;
  readonly claims: ActorClaims;
}

/** Tokens outlive the proposals they are evidence for; older ones are forgotten. */
const REMEMBERED_TOKENS = 16_384;
/** So do the requests; it takes more of them to forget one. */
const REMEMBERED_REPLACEMENTS = 65_536;

const anotherFormat = ({ otherwise64 }: SampleKey, format: number): string =>
  otherwise64[format % otherwise64.length] ?? otherwise64[0];

type Permissions = Pick<Permission, "needed" | "other">;
/** Contract 5.6. */
export const toRegister: Permissions = { needed: "service.approvers.register", other: "service.approvers.metadata" };
export const toReplace: Permissions = { needed: toRegister.other, other: toRegister.needed };

export const AUDIENCE = "custody";
/** Who signs tokens. */
export const ISSUER = "issuer.example";
/** Of tokens that nobody will accept, whatever any clock says. */
const FAR_AHEAD_MILLIS = 100 * 365 * 86_400_000;

const formOf = <A>(forms: ReadonlyArray<A>, usual: A, number: number): A =>
  forms[Math.floor(number / TOKENS_OF_A_FORM) % forms.length] ?? usual;
/** Not as many as there are bearers, so that each has tokens of all forms. */
const TOKENS_OF_A_FORM = 3;

type Claims = Pick<ActorClaims, "iss" | "audience" | "notBefore" | "issuedAt">;

/** Claims of a token that is meant for somebody else, or for another time. */
const foreignClaims = (claims: Claims, nowMillis: number): ReadonlyArray<Claims> => [
  { ...claims, audience: ["another-service"] },
  { ...claims, iss: "another.example" },
  { ...claims, iss: undefined },
  { ...claims, notBefore: nowMillis + FAR_AHEAD_MILLIS },
  { ...claims, issuedAt: nowMillis + FAR_AHEAD_MILLIS },
];

export class Commands {
  readonly #cryptography: Cryptography;
  readonly #bodyBytes: number;
  readonly #byBody = new Map<string, Command>();
  readonly #byName = new Map<string, Command>();
  readonly #keyNames = new Map<string, string>();
  readonly #replacements: RecentMap<Replacement>;
  readonly #others = new RecentMap<Asked>(REMEMBERED_REPLACEMENTS);
  readonly #tokens = new Map<number, Token>();
  #nextToken = 1;

  readonly enrollment: EnrollmentRequests;

  /**
   * @param bodyBytes how long the body of a registration, or of anything about an enrollment, is at least
   * @param remembered how many of the last replacements are known again
   */
  constructor(cryptography: Cryptography, bodyBytes = 0, remembered = REMEMBERED_REPLACEMENTS) {
    this.#cryptography = cryptography;
    this.#bodyBytes = bodyBytes;
    this.#replacements = new RecentMap(remembered);
    this.enrollment = new EnrollmentRequests(cryptography, bodyBytes);
  }

  /** A registration of a sample key under an id; equal arguments give equal bytes. */
  command(id: string, key: number, team: string, { format, isSorted, isTwin }: Form = USUAL): Command {
    const name = `${id} ${key} ${team} ${format} ${isSorted} ${isTwin}`;
    const said = this.#byName.get(name);
    if (said !== undefined) return said;
    const sample = (isTwin ? this.#cryptography.twinOf(key) : undefined) ?? this.#cryptography.sampleKey(key);
    const submitted64 = format === 0 ? sample.submitted64 : anotherFormat(sample, format);
    const command = this.#registration({ id, key, team }, { ...sample, submitted64 }, isSorted);
    this.#byName.set(name, command);
    return command;
  }

  /** The registration of a key of the service's own, by its public key, as somebody's: it is the service's. */
  theft(id: string, algorithm: string, publicKey64: string): Command {
    const sample = { algorithm, submitted64: publicKey64, normal64: publicKey64, name: `custody key ${publicKey64}` };
    const edge = { rule: "2.2 key", how: "the service's own", refusedAs: "KEY_ALREADY_REGISTERED" } as const;
    return { ...this.#registration({ id, key: 0, team: "thieves" }, sample, false), edge };
  }

  #registration(
    { id, key, team }: Pick<Command, "id" | "key" | "team">,
    { algorithm, submitted64, normal64, name: keyName }: Omit<SampleKey, "otherwise64">,
    isSorted: boolean,
  ): Command {
    const rawBody = bodyOf(
      `{"id":"${id}","credential":{"type":"SIGNATURE","algorithm":"${algorithm}","publicKey64":"${submitted64}"},"metadata":${labelsJson(team, isSorted)}}`,
      this.#bodyBytes,
    );
    const bodyDigest = this.#cryptography.crypto.sha256(rawBody);
    const descriptor = `{"algorithm":"${algorithm}","publicKey64":"${normal64}","type":"SIGNATURE","version":1}`;
    const call = { method: "POST", path: REGISTER_PATH, ifMatch: undefined, rawBody };
    const command = { kind: "REGISTER" as const, id, key, team, call, bodyDigest, descriptor, keyName };
    this.#keyNames.set(descriptor, keyName);
    this.#byBody.set(bodyDigest, command);
    return command;
  }

  /** The same request in other bytes that mean the same. */
  reworded(asked: Asked, rawBody: Uint8Array): Asked {
    const bodyDigest = this.#cryptography.crypto.sha256(rawBody);
    const same = { ...asked, call: { ...asked.call, rawBody } };
    if (isCommand(same)) this.#byBody.set(bodyDigest, { ...same, bodyDigest });
    else if (isReplacement(same)) this.#replacements.set(this.#nameOf(same.call.path, bodyDigest, same.ifMatch), same);
    else if (isFinish(same) || isInvite(same)) this.enrollment.reworded(same, bodyDigest);
    return same;
  }

  finishOf(bodyDigest: string): Finish | undefined {
    return this.enrollment.byBody(bodyDigest);
  }

  inviteOf(bodyDigest: string): Invite | undefined {
    return this.enrollment.inviteOf(bodyDigest);
  }

  /** What callers call the key of an approver with this descriptor, in either format; the descriptor where nobody does. */
  readonly keyOf = (descriptor: string): string =>
    this.#keyNames.get(descriptor) ?? this.enrollment.keyOf(descriptor) ?? descriptor;

  byBody(bodyDigest: string): Command | undefined {
    return this.#byBody.get(bodyDigest);
  }

  /** A replacement of an approver's metadata by those of a team, or by none; equal arguments give the very same request. */
  replacement(ref: string, ifMatch: string | undefined, team: string | undefined, isSorted = false): Replacement {
    const rawBody = utf8Bytes(`{"metadata":${labelsJson(team, isSorted)}}`);
    const path = metadataPath(ref);
    const name = this.#nameOf(path, this.#cryptography.crypto.sha256(rawBody), ifMatch);
    const said = this.#replacements.get(name);
    if (said !== undefined) return said;
    const replacement = {
      kind: "METADATA" as const,
      ref,
      ifMatch,
      team,
      call: { method: "PUT", path, ifMatch, rawBody },
    };
    this.#replacements.set(name, replacement);
    return replacement;
  }

  /** The replacement that a caller sent to this path with this body and this If-Match. */
  replacementOf(path: string, bodyDigest: string, ifMatch: string | undefined): Replacement | undefined {
    return this.#replacements.get(this.#nameOf(path, bodyDigest, ifMatch));
  }

  /** Takes note of a request of a command that has no method of its own here; gives it back. */
  said<A extends Asked>(asked: A): A {
    const { path, rawBody } = asked.call;
    this.#others.set(`${asked.kind} ${path} ${this.#cryptography.crypto.sha256(rawBody)}`, asked);
    return asked;
  }

  /** The request of this kind that a caller sent to this path with this body. */
  byRequest(kind: string, { path, bodyDigest }: RequestLine): Asked | undefined {
    return this.#others.get(`${kind} ${path} ${bodyDigest}`);
  }

  #nameOf(path: string, bodyDigest: string, ifMatch: string | undefined): string {
    return `${path} ${bodyDigest} ${ifMatch}`;
  }

  /** A new token for what is asked. `lifeMillis` counts from `nowMillis`; negative for one that has expired. */
  token(
    kind: TokenKind,
    nowMillis: number,
    lifetimeMillis: number,
    { needed, other }: Permissions = toRegister,
  ): Token {
    const number = this.#nextToken++;
    const usual: Claims = { iss: ISSUER, audience: [AUDIENCE], notBefore: undefined, issuedAt: nowMillis };
    const forms = kind === "forbidden" ? withholding(needed, other) : granting(needed, other);
    const claims: ActorClaims = {
      ...(kind === "foreign" ? formOf(foreignClaims(usual, nowMillis), usual, number) : usual),
      sub: `caller-${number % 7}`,
      jti: `j${number}`,
      expiresAt: nowMillis + lifetimeMillis,
      permissions: formOf(forms, [needed], number),
    };
    const check: ActorCheck =
      kind === "forged" ? { _tag: "Refused", reason: "its signature does not verify" } : { _tag: "Verified", claims };
    const token = { kind, text: `${TOKEN_MARK}${number}`, check, claims };
    this.#tokens.set(number, token);
    this.#tokens.delete(number - REMEMBERED_TOKENS);
    return token;
  }

  /** What any peer finds out about a token's text. */
  judge(text: string): ActorCheck {
    const token = text.startsWith(TOKEN_MARK) ? this.#tokens.get(Number(text.slice(TOKEN_MARK.length))) : undefined;
    return token?.check ?? { _tag: "Refused", reason: "nobody issued it" };
  }

  bearerOf(text: string): ActorClaims | undefined {
    const check = this.judge(text);
    return check._tag === "Verified" ? check.claims : undefined;
  }

  tokenOf(jti: string | undefined): Token | undefined {
    return jti === undefined ? undefined : this.#tokens.get(Number(jti.slice(1)));
  }
}
