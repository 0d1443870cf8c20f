/** What the examples about keys are made of: one key, whose signature is of its message. */

const at = 1_800_000_000_000;

/** The key and signature of the third test vector of RFC 8032 7.1. */
const publicKey64 = "/FHNjmIYoaONpH7QAjDwWAgW7RO6MwOsXeuRFUiQgCU=";
export const exampleSignature64 =
  "YpHWV97sJAJIJ+acOr4BowzlSKKEdDpEXjaA19taw6wY/5tTjRbykK5n92CYTcZZSnwV6XFu0o3AJ77O6h7ECg==";

export const exampleKeyId = "payments-eu";

const spki64 = `MCowBQYDK2VwAyEA${publicKey64}`;

export const exampleKey = {
  keyId: exampleKeyId,
  status: "ACTIVE",
  algorithm: "ED25519",
  scheme: "EdDSA",
  currentGeneration: 1,
  assetOwner: "customer-42",
  createdAt: at,
  updatedAt: at,
  threshold: 2,
  total: 3,
  health: "OK",
  generation: {
    generation: 1,
    state: "ACTIVE",
    madeBy: "CREATE",
    publicKey64,
    spki64,
    authorities: [{ id: "arbitrary" }],
    record: `sha256:${"0123456789abcdef".repeat(4)}`,
    transcript: `sha256:${"fedcba9876543210".repeat(4)}`,
    createdAt: at,
  },
};

/** The same after a rotation or a refresh. */
export const exampleRenewed = (madeBy: "ROTATE" | "REFRESH") => ({
  ...exampleKey,
  currentGeneration: 2,
  updatedAt: at + 60_000,
  generation: { ...exampleKey.generation, generation: 2, madeBy, createdAt: at + 60_000 },
});

export const exampleDestroyed = {
  ...exampleKey,
  currentGeneration: 2,
  updatedAt: at + 120_000,
  generation: { ...exampleKey.generation, state: "DESTROYED", destroyedAt: at + 120_000 },
};

export const examplePublicKey = {
  keyId: exampleKeyId,
  algorithm: "ED25519",
  scheme: "EdDSA",
  generation: 1,
  publicKey64,
  spki64,
};

/** Two bytes. */
const exampleArtifact = { scheme: "EdDSA", data64: "r4I=" };

export const exampleSigning = {
  command: { type: "arbitrary", authorityId: "arbitrary", artifact: exampleArtifact },
};

export const exampleVerification = {
  command: { type: "arbitrary", artifact: exampleArtifact },
  signature64: exampleSignature64,
};
