/** What registrars and holders send: options for an id, and responses to them, honest and otherwise. */
import { bytesToHex } from "@noble/hashes/utils.js";
import { Either, Encoding } from "effect";
import type { Offer } from "../../core/commands/enrollPasskey/Offer.ts";
import type { Call } from "../../core/protocol/Forward.ts";
import { RecentMap } from "../../runtime/RecentMap.ts";
import type { Cryptography } from "../crypto/Cryptography.ts";
import { otherParty, partyOf } from "../crypto/SimRelyingParty.ts";
import type { Edge, Meant } from "./Asked.ts";
import { bodyOf } from "./Bodies.ts";
import { labelsJson } from "./Labels.ts";
import { FINISH_PATH, OPTIONS_PATH } from "./Paths.ts";

/** A request for options as its registrar means it. */
export interface Invite {
  readonly kind: "OPTIONS";
  readonly id: string;
  readonly team: string;
  readonly call: Call;
}

/** What its registrar was told, and so its holder. */
export interface Invited {
  readonly invite: Invite;
  readonly offer: Offer;
}

/** The flaw of a response, if any. */
export const flaws = ["nothing", "registrationId", "invitation", "challenge", "raw id", "relying party"] as const;
export type Flaw = (typeof flaws)[number];

/** A response as its holder means it. */
export interface Finish {
  readonly kind: "FINISH";
  readonly id: string;
  readonly team: string;
  readonly call: Call;
  /** Hexadecimal. */
  readonly registrationId: string;
  /** Unix milliseconds: the session's deadline. */
  readonly deadline: number;
  readonly isHonest: boolean;
  /** What its holder calls the key: the name that it has in a SIGNATURE registration, too. */
  readonly keyName: string;
  /** The number of the key in it, as sample keys are numbered. */
  readonly key: number;
  /** The number of the credential. */
  readonly credential: number;
  /** (rpId, credentialId) as one text, and the descriptor, each written here by hand. */
  readonly credentialName: string;
  readonly descriptor: string;
  readonly signCount: number;
  /** The credential as text: another credential makes another response. */
  readonly response: string;
  readonly rpId: string;
  readonly edge?: Edge;
}

export const isInvite = (asked: Meant): asked is Invite => asked.kind === "OPTIONS";
export const isFinish = (asked: Meant): asked is Finish => asked.kind === "FINISH";

/** What an authenticator is made to do. */
export interface Made {
  readonly key: number;
  readonly credential: number;
  readonly signCount: number;
  readonly flaw: Flaw;
  readonly edge?: Edge | undefined;
}

/** Responses outlive the proposals they are evidence for; older ones are forgotten. */
const REMEMBERED = 16_384;

const hexOf = (base64url: string): string => bytesToHex(bytesOf(base64url));

export const bytesOf = (base64url: string): Uint8Array => Either.getOrThrow(Encoding.decodeBase64Url(base64url));

/** A text of 43 characters that decodes to 32 bytes which nobody was ever given. */
const NO_INVITATION = "A".repeat(43);

export class EnrollmentRequests {
  readonly #cryptography: Cryptography;
  readonly #bodyBytes: number;
  readonly #byBody = new RecentMap<Finish>(REMEMBERED);
  readonly #invites = new RecentMap<Invite>(REMEMBERED);
  readonly #keyNames = new Map<string, string>();

  /** @param bodyBytes how long a body is at least */
  constructor(cryptography: Cryptography, bodyBytes = 0) {
    this.#cryptography = cryptography;
    this.#bodyBytes = bodyBytes;
  }

  invite(id: string, team: string): Invite {
    const rawBody = bodyOf(`{"id":"${id}","metadata":${labelsJson(team)}}`, this.#bodyBytes);
    const call = { method: "POST", path: OPTIONS_PATH, ifMatch: undefined, rawBody };
    const invite: Invite = { kind: "OPTIONS", id, team, call };
    this.#invites.set(this.#cryptography.crypto.sha256(rawBody), invite);
    return invite;
  }

  /** The request for options that was sent with this body. */
  inviteOf(bodyDigest: string): Invite | undefined {
    return this.#invites.get(bodyDigest);
  }

  /** A response to options by an authenticator with this key and credential. */
  finish({ invite, offer }: Invited, { key, credential, signCount, flaw, edge }: Made): Finish {
    const { publicKey, registrationId, expiresAt } = offer;
    const party = partyOf(publicKey.rp.id);
    const challenge = flaw === "challenge" ? bytesOf(publicKey.user.id) : bytesOf(publicKey.challenge);
    const said = this.#cryptography.respond({
      challenge,
      key,
      credential,
      signCount,
      party: flaw === "relying party" ? otherParty(party) : party,
    });
    const response = JSON.stringify({
      clientExtensionResults: {},
      id: said.id64,
      rawId: flaw === "raw id" ? NO_INVITATION : said.id64,
      response: { attestationObject: said.attestation64, clientDataJSON: said.clientData64, transports: ["usb"] },
      type: "public-key",
    });
    const invitation =
      flaw === "registrationId" ? registrationId : flaw === "invitation" ? NO_INVITATION : offer.invitation;
    const rawBody = bodyOf(`{"invitation":"${invitation}","credential":${response}}`, this.#bodyBytes);
    const keyName = this.#cryptography.passkeyName(key);
    const finish: Finish = {
      kind: "FINISH",
      id: invite.id,
      team: invite.team,
      call: { method: "POST", path: FINISH_PATH, ifMatch: undefined, rawBody },
      registrationId: hexOf(registrationId),
      deadline: expiresAt,
      isHonest: flaw === "nothing",
      keyName,
      key,
      credential,
      credentialName: `${party.rpId} ${said.id64}`,
      descriptor: JSON.stringify({
        backupEligible: false,
        credentialId: said.id64,
        origins: [party.origin],
        publicKeyCose: said.cose64,
        rpId: party.rpId,
        type: "WEBAUTHN",
        userHandle: publicKey.user.id,
        userVerification: "REQUIRED",
        version: 1,
      }),
      signCount,
      response,
      rpId: party.rpId,
      ...(edge && { edge }),
    };
    this.#keyNames.set(finish.descriptor, keyName);
    this.#byBody.set(this.#cryptography.crypto.sha256(rawBody), finish);
    return finish;
  }

  /** The same response and invitation in other words: its members in another order, with white space between them. */
  rewritten(finish: Finish): Finish {
    const { invitation }: { readonly invitation: string } = JSON.parse(new TextDecoder().decode(finish.call.rawBody));
    const members = Object.entries(JSON.parse(finish.response) as object).toReversed();
    const body = { credential: Object.fromEntries(members), invitation };
    const rawBody = bodyOf(JSON.stringify(body, undefined, 1), this.#bodyBytes);
    const other: Finish = { ...finish, call: { ...finish.call, rawBody } };
    this.reworded(other, this.#cryptography.crypto.sha256(rawBody));
    return other;
  }

  /** Takes note of a request in other bytes. */
  reworded(asked: Finish | Invite, bodyDigest: string): void {
    if (isFinish(asked)) this.#byBody.set(bodyDigest, asked);
    else this.#invites.set(bodyDigest, asked);
  }

  /** What holders call the key of a passkey with this descriptor. */
  keyOf(descriptor: string): string | undefined {
    return this.#keyNames.get(descriptor);
  }

  /** The response that was sent with this body. */
  byBody(bodyDigest: string): Finish | undefined {
    return this.#byBody.get(bodyDigest);
  }
}
