/** clientDataJSON, by the browser (WebAuthn Level 3 section 5.8.1, checked as in section 7.1 steps 5 to 12). */
import { Either } from "effect";
import { base64Url } from "../codec/Base64Url.ts";
import { type JsonObject, type JsonValue, parseStrictJson } from "../codec/StrictJson.ts";
import { demand, FailedCheck } from "./CeremonyRefusal.ts";
import type { RelyingParty } from "./RelyingParty.ts";

/** Containers inside one another; honest client data has two. */
const DEPTH = 16;

/**
 * Checks the client data. Unknown members are allowed: browsers add some at random, on purpose.
 *
 * @param challenge the bytes the session holds
 * @throws Refused with the check that failed
 */
export const checkClientData = (
  clientDataJson: Uint8Array,
  challenge: Uint8Array,
  { origins }: Pick<RelyingParty, "origins">,
): void => {
  const document = parseStrictJson(clientDataJson, { depth: DEPTH });
  // The fault's own sentence names a code and a byte offset, and quotes nothing.
  if (Either.isLeft(document)) throw new FailedCheck("client_data_json", document.left.detail);
  const members = objectOf(document.right);
  if (members === undefined) throw new FailedCheck("client_data_json", "The client data is not an object.");
  demand(members.get("type") === "webauthn.create", "client_data_type", "The type is not webauthn.create.");
  const isSame = members.get("challenge") === base64Url(challenge);
  demand(isSame, "challenge", "The challenge is not the one of this registration.");
  const origin = members.get("origin");
  const isKnown = typeof origin === "string" && origins.includes(origin);
  demand(isKnown, "origin", "The origin is none of the configured origins.");
  demand(!members.has("topOrigin"), "top_origin", "The response was made inside a page of another origin.");
  const crossOrigin = members.get("crossOrigin");
  const isWithin = crossOrigin === undefined || crossOrigin === false;
  demand(isWithin, "cross_origin", "The response was made across origins, or does not say so with true or false.");
  checkTokenBinding(members.get("tokenBinding"));
};

/** Level 2's token binding: our connections are never bound, so a client may only say whether it supports it. */
const checkTokenBinding = (tokenBinding: JsonValue | undefined): void => {
  if (tokenBinding === undefined) return;
  const status = objectOf(tokenBinding)?.get("status");
  const isUnbound = status === "supported" || status === "not-supported";
  demand(isUnbound, "token_binding", "The response is bound to a connection, which none of ours is.");
};

const objectOf = (value: JsonValue): JsonObject | undefined => (value instanceof Map ? value : undefined);
