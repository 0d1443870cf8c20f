/** What the examples of the description are made of: one approver, whose ref is that of its key. */

/** The public key of the first test vector of RFC 8032 7.1. */
export const exampleCredential = {
  type: "SIGNATURE",
  algorithm: "ED25519",
  publicKey64: "11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo=",
};

export const exampleRef = "alice@sha256:9d6d9eec7b7de81d5f7058516aba59c75a6e08d54d7ee6d4427e17450c1de04f";

const at = 1_800_000_000_000;

export const exampleRecord = {
  id: "alice",
  ref: exampleRef,
  credential: exampleCredential,
  metadata: { team: "payments" },
  metadataRevision: 1,
  createdAt: at,
  updatedAt: at,
};

/** The key of another test vector there. */
const exampleIdentity = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c";

export const examplePlan = {
  threshold: 2,
  total: 2,
  targets: [{ peerId: 2, url: "https://peer2.example:7400", identityKey: exampleIdentity }],
};

export const examplePromotion = {
  role: "source",
  stage: "PINNED",
  transferId: "5b".repeat(32),
  source: 1,
  members: [1, 2],
  threshold: 2,
  approvers: 12,
  here: 12,
  accepted: [],
  installed: [],
  refused: [],
  waitsFor: "peer 2 to accept",
};

const binary = (bytes: number, fill: number): string => Buffer.alloc(bytes, fill).toString("base64url");

const exampleChallenge = binary(32, 3);
const exampleCredentialId = binary(16, 1);

export const exampleInvitation = {
  registrationId: binary(32, 7),
  invitation: binary(32, 5),
  expiresAt: at + 300_000,
  publicKey: {
    rp: { id: "custody.example.com", name: "Custody" },
    user: { id: binary(32, 9), name: "alice", displayName: "alice" },
    challenge: exampleChallenge,
    pubKeyCredParams: [{ type: "public-key", alg: -7 }],
    timeout: 300_000,
    excludeCredentials: [],
    authenticatorSelection: {
      residentKey: "preferred",
      requireResidentKey: false,
      userVerification: "required",
    },
    attestation: "none",
    extensions: { credProps: true },
  },
};

const clientData = { type: "webauthn.create", challenge: exampleChallenge, origin: "https://custody.example.com" };

/** In form alone: what a browser sends is longer, and made by an authenticator. */
export const exampleResponse = {
  invitation: exampleInvitation.invitation,
  credential: {
    id: exampleCredentialId,
    rawId: exampleCredentialId,
    type: "public-key",
    response: {
      clientDataJSON: Buffer.from(JSON.stringify(clientData)).toString("base64url"),
      attestationObject: binary(3, 0xa0),
      transports: ["internal"],
    },
    clientExtensionResults: {},
  },
};

export const examplePasskey = {
  id: "alice",
  ref: `alice@sha256:${"0123456789abcdef".repeat(4)}`,
  credential: {
    version: 1,
    type: "WEBAUTHN",
    algorithm: "ES256",
    credentialId: exampleCredentialId,
    publicKeyCose: binary(77, 2),
    rpId: "custody.example.com",
    origins: ["https://custody.example.com"],
    userVerification: "REQUIRED",
    userHandle: binary(32, 9),
    backupEligible: false,
  },
  observations: { signCount: 0, backupState: false, transports: ["internal"], aaguid: binary(16, 0) },
  metadata: {},
  metadataRevision: 1,
  createdAt: at,
  updatedAt: at,
};

/** No share of any peer. */
export const exampleShare = Buffer.alloc(33, 11).toString("base64");
