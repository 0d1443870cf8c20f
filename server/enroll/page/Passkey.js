/** Asks the browser for a passkey, and says in plain words why there is none. */
import { encode } from "./Base64Url.js";

/**
 * The members of a browser's credential that the service verifies; it computes everything else from them.
 * @typedef {object} PasskeyJson
 * @property {string} id
 * @property {string} rawId
 * @property {string} type
 * @property {{clientDataJSON: string, attestationObject: string, transports: ReadonlyArray<string>}} response
 * @property {AuthenticationExtensionsClientOutputs} clientExtensionResults
 */

/** ECDSA on P-256 with SHA-256 (RFC 9053 2.1), the one algorithm of this service. */
const ES256 = -7;

/** @param {ArrayBuffer} buffer */
const encodeBuffer = (buffer) => encode(new Uint8Array(buffer));

/** @type {Record<string, readonly [title: string, detail: string]>} */
const reasons = {
  InvalidStateError: [
    "This device has a passkey here already",
    "It is registered for this approver. Use another device or security key, or leave it as it is.",
  ],
  NotSupportedError: [
    "This device cannot make such a passkey",
    "The service needs a key of the kind ES256. Use another device or security key.",
  ],
  ConstraintError: [
    "This device cannot verify that it is you",
    "Set a screen lock, fingerprint or PIN on the device or security key, or use another one.",
  ],
  SecurityError: [
    "The browser refuses this page",
    "The address of this page does not belong to the service the link is for. Ask for a link with the right address.",
  ],
};

const cancelled = /** @type {const} */ ([
  "No passkey was made",
  "The request was cancelled, or it took too long. Nothing was sent. You can try again.",
]);

/** No passkey: a title and a sentence. */
export class NoPasskey extends Error {
  /** @param {readonly [title: string, detail: string]} reason */
  constructor([title, detail]) {
    super(title);
    this.detail = detail;
  }
}

/** Whether this browser, at this address, has passkeys at all. */
export const hasPasskeys = () => window.isSecureContext && typeof PublicKeyCredential === "function";

/**
 * Whether a page of this host may use a relying party's id.
 * @param {string} rpId
 */
export const isOurs = (rpId) => location.hostname === rpId || location.hostname.endsWith(`.${rpId}`);

/**
 * @param {import("./Link.js").Asked} asked
 * @returns {Promise<PasskeyJson>} rejects with {@link NoPasskey}
 */
export const createPasskey = async (asked) => {
  const { rpId, rpName, id, userHandle, challenge, timeout, attestation, excluded } = asked;
  const created = await navigator.credentials
    .create({
      publicKey: {
        rp: { id: rpId, name: rpName },
        user: { id: userHandle, name: id, displayName: id },
        challenge,
        pubKeyCredParams: [{ type: "public-key", alg: ES256 }],
        timeout,
        excludeCredentials: excluded.map((each) => ({ type: "public-key", id: each })),
        authenticatorSelection: {
          residentKey: "preferred",
          requireResidentKey: false,
          userVerification: "required",
        },
        attestation,
        extensions: { credProps: true },
      },
    })
    .catch((/** @type {unknown} */ fault) => {
      throw new NoPasskey(reasons[fault instanceof DOMException ? fault.name : ""] ?? cancelled);
    });
  if (!(created instanceof PublicKeyCredential) || !(created.response instanceof AuthenticatorAttestationResponse))
    throw new NoPasskey(cancelled);
  const { response } = created;
  return {
    id: created.id,
    rawId: encodeBuffer(created.rawId),
    type: created.type,
    response: {
      clientDataJSON: encodeBuffer(response.clientDataJSON),
      attestationObject: encodeBuffer(response.attestationObject),
      transports: response.getTransports(),
    },
    clientExtensionResults: created.getClientExtensionResults(),
  };
};
