/** The bodies of requests about keys (docs/api.md). */
import { BASE64_PATTERN, base64Length, strictBase64 } from "../../codec/Base64.ts";
import { decoded, integer, list, named, object, only, optional, type Shape, text, word } from "../../codec/Shape.ts";
import { Limits } from "../../base/Limits.ts";
import { ARBITRARY, keyIdShape } from "./KeyId.ts";

const algorithm = text({ shortest: 1, longest: 32, rule: "The name of an algorithm has 1 to 32 characters." });
const scheme = text({ shortest: 1, longest: 32, rule: "The name of a scheme has 1 to 32 characters." });

const OWNER = /^[a-z0-9]+(?:[-_/][a-z0-9]+)*$/;
export const isAssetOwner = (id: string): boolean => id.length <= Limits.authorityIdCharacters && OWNER.test(id);

const assetOwner = text({
  shortest: 1,
  longest: Limits.authorityIdCharacters,
  pattern: OWNER,
  rule: "An owner is lower-case letters and digits, with single -, _ or / between them.",
});

const generation = integer(1, Limits.generations);

const authority = object({ id: word([ARBITRARY], "The one authority that can be attached is arbitrary.") });
const authorities = list(authority, { fewest: 1, most: 1 });

export const keyCreationShape = named(
  "KeyCreation",
  object({ keyId: keyIdShape, algorithm, scheme: optional(scheme), authorities, assetOwner: optional(assetOwner) }),
);

/** Of a rotation and of a refresh: what is left out stays. */
export const keyRenewalShape = named(
  "KeyRenewal",
  object({ baseGeneration: generation, authorities: optional(authorities), assetOwner: optional(assetOwner) }),
);

export const keyDestructionShape = named(
  "KeyDestruction",
  object({ baseGeneration: generation, generation, final: optional(only(true)) }),
);

export const hashes = ["NONE", "SHA256", "SHA512", "KECCAK256"] as const;
/** What is done to the data before it is signed. */
export type Hash = (typeof hashes)[number];

const base64 = (mostBytes: number): Shape<Uint8Array> =>
  decoded({
    decode: (value) => strictBase64(value, mostBytes),
    faultOf: () => `This must be padded Base64 of at most ${mostBytes} bytes, in its one form.`,
    schema: { contentEncoding: "base64", maxLength: base64Length(mostBytes), pattern: BASE64_PATTERN },
  });

const type = word([ARBITRARY], "The one type of command is arbitrary.");

const artifactOf = (ofScheme: Shape<string>) =>
  object({
    scheme: ofScheme,
    hash: optional(word(hashes, `The hash is one of ${hashes.join(", ")}.`)),
    data64: base64(Limits.signedBytes),
  });

const commandOf = (ofScheme: Shape<string>) =>
  object({
    type,
    authorityId: word([ARBITRARY], "The one authority is arbitrary."),
    artifact: artifactOf(ofScheme),
  });

const arbitraryArtifact = artifactOf(scheme);

/** The command of the built-in authority (contract 2.8): any bytes, hashed or not. */
const arbitraryCommand = commandOf(scheme);

/** The same for a key of one scheme, as its callers see it described. */
export const arbitraryCommandFor = (keyScheme: string) =>
  commandOf(word([keyScheme], "The scheme is that of the key."));

export const signingShape = named("Signing", object({ command: arbitraryCommand, generation: optional(generation) }));

export const verificationShape = named(
  "Verification",
  object({
    command: object({ type, artifact: arbitraryArtifact }),
    generation: optional(generation),
    signature64: base64(Limits.signatureBytes),
  }),
);

export const repairShape = named(
  "Repair",
  object({ helpers: list(integer(1, Number.MAX_SAFE_INTEGER), { fewest: 1, most: Limits.members }) }),
);
