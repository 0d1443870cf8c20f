/**
 * What stands behind # in an enrollment link: Base64url of `{invitation, expiresAt, publicKey}`. Whoever sent
 * it could have written anything, so every member is checked, and what the service always asks for is not taken from it.
 */
import { decode } from "./Base64Url.js";

/**
 * @typedef {object} Link
 * @property {string} invitation the bearer secret, as it is sent
 * @property {number} expiresAt Unix milliseconds
 * @property {Asked} asked
 *
 * @typedef {object} Asked what a passkey is asked for with
 * @property {string} rpId
 * @property {string} rpName
 * @property {string} id the approver's
 * @property {Uint8Array<ArrayBuffer>} userHandle
 * @property {Uint8Array<ArrayBuffer>} challenge
 * @property {number} timeout milliseconds
 * @property {AttestationConveyancePreference} attestation
 * @property {ReadonlyArray<Uint8Array<ArrayBuffer>>} excluded ids of credentials that are registered already
 */

/** A service lists up to 1,024 credentials of up to 1,023 bytes, which is 1.9 million characters. */
const LONGEST_FRAGMENT = 2 * 1024 * 1024;
const LONGEST_TIMEOUT = 600_000;
const CREDENTIAL_ID_BYTES = 1023;
const SECRET_BYTES = 32;

const constants = {
  pubKeyCredParams: '[{"type":"public-key","alg":-7}]',
  authenticatorSelection: '{"residentKey":"preferred","requireResidentKey":false,"userVerification":"required"}',
  extensions: '{"credProps":true}',
};

class Malformed extends Error {}

/**
 * @param {boolean} holds
 * @returns {asserts holds}
 */
function demand(holds) {
  if (!holds) throw new Malformed();
}

/**
 * The members of an object that has exactly these.
 * @template {string} K
 * @param {unknown} value
 * @param {ReadonlyArray<K>} names
 * @returns {Record<K, unknown>}
 */
const exactly = (value, names) => {
  demand(typeof value === "object" && value !== null && !Array.isArray(value));
  const keys = Object.keys(value);
  demand(keys.length === names.length && names.every((name) => keys.includes(name)));
  return /** @type {Record<K, unknown>} */ (value);
};

/**
 * @param {unknown} value
 * @param {RegExp} pattern
 */
const text = (value, pattern) => {
  demand(typeof value === "string" && pattern.test(value));
  return value;
};

/**
 * @param {unknown} value
 * @param {number} most
 */
const wholeNumber = (value, most) => {
  demand(typeof value === "number" && Number.isSafeInteger(value) && value >= 0 && value <= most);
  return value;
};

/**
 * @param {unknown} value
 * @param {number} least
 * @param {number} most
 */
const bytes = (value, least, most) => {
  const decoded = typeof value === "string" ? decode(value) : undefined;
  demand(decoded !== undefined && decoded.length >= least && decoded.length <= most);
  return decoded;
};

/** @param {unknown} value */
const secret = (value) => bytes(value, SECRET_BYTES, SECRET_BYTES);

/**
 * An object that says the same as a JSON text, in any order of members.
 * @param {unknown} value
 * @param {string} json
 */
const same = (value, json) => {
  /** @type {(each: unknown) => unknown} */
  const sorted = (each) =>
    Array.isArray(each)
      ? each.map(sorted)
      : typeof each === "object" && each !== null
        ? Object.entries(each)
            .map(([key, inner]) => [key, sorted(inner)])
            .toSorted()
        : each;
  demand(JSON.stringify(sorted(value)) === JSON.stringify(sorted(JSON.parse(json))));
};

/** @param {unknown} value */
const conveyance = (value) => {
  demand(value === "none" || value === "indirect" || value === "direct");
  return value;
};

/** @param {unknown} value */
const credentialIds = (value) => {
  demand(Array.isArray(value));
  return value.map((/** @type {unknown} */ each) => {
    const { type, id } = exactly(each, ["type", "id"]);
    demand(type === "public-key");
    return bytes(id, 1, CREDENTIAL_ID_BYTES);
  });
};

/**
 * @param {unknown} value
 * @returns {Asked}
 */
const readOptions = (value) => {
  const options = exactly(value, [
    "rp",
    "user",
    "challenge",
    "pubKeyCredParams",
    "timeout",
    "excludeCredentials",
    "authenticatorSelection",
    "attestation",
    "extensions",
  ]);
  same(options.pubKeyCredParams, constants.pubKeyCredParams);
  same(options.authenticatorSelection, constants.authenticatorSelection);
  same(options.extensions, constants.extensions);
  const rp = exactly(options.rp, ["id", "name"]);
  const user = exactly(options.user, ["id", "name", "displayName"]);
  demand(user.name === user.displayName);
  return {
    rpId: text(rp.id, /^[a-z0-9.-]{1,253}$/),
    rpName: text(rp.name, /^[^\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]{1,256}$/u),
    id: text(user.name, /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/),
    userHandle: secret(user.id),
    challenge: secret(options.challenge),
    timeout: wholeNumber(options.timeout, LONGEST_TIMEOUT),
    attestation: conveyance(options.attestation),
    excluded: credentialIds(options.excludeCredentials),
  };
};

/**
 * Reads what stands behind # in a link.
 *
 * @param {string} fragment without the #
 * @returns {Link | undefined} undefined when it is not one of this service, of this version
 */
export const parseLink = (fragment) => {
  try {
    demand(fragment.length <= LONGEST_FRAGMENT);
    const json = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(decode(fragment));
    const { invitation, expiresAt, publicKey } = exactly(JSON.parse(json), ["invitation", "expiresAt", "publicKey"]);
    secret(invitation);
    return {
      invitation: String(invitation),
      expiresAt: wholeNumber(expiresAt, Number.MAX_SAFE_INTEGER),
      asked: readOptions(publicKey),
    };
  } catch {
    return undefined;
  }
};

/** Takes the fragment out of the address bar and of the tab's history, and returns it. */
export const takeFragment = () => {
  const fragment = location.hash.slice(1);
  if (fragment !== "") history.replaceState(null, "", location.pathname);
  return fragment;
};
