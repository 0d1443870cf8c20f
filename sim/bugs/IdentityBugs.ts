/** Bugs in what makes two keys one key, and two responses one response. */
import { Either } from "effect";
import type { Digest } from "../../core/base/Digest.ts";
import type { Crypto } from "../../core/crypto/Crypto.ts";
import type { Cryptography } from "../crypto/Cryptography.ts";
import { byteOf } from "../crypto/SimRelyingParty.ts";
import type { Tampering } from "../world/Tampering.ts";
import type { PlantedBug } from "./PlantedBug.ts";

const KEY_TAG = "CUSTODY_KEY_V1";
const FINISH_TAG = "CUSTODY_FINISH_V1";
const CREDENTIAL_TAG = "CUSTODY_CREDENTIAL_V1";

/** Another name for what has a tag, where the change gives one. */
const naming = (honest: Crypto, tag: string, change: (value: unknown, name: Digest) => Digest): Crypto => ({
  ...honest,
  digest: (of, codec, value) => {
    const name = honest.digest(of, codec, value);
    return of === tag ? change(value, name) : name;
  },
});

/** Keys are compared as they were submitted; ones that were not, by what they are. */
const asSubmitted = (honest: Cryptography): Cryptography => {
  const submitted = new WeakMap<Uint8Array, Uint8Array>();
  return {
    ...honest,
    crypto: naming(honest.crypto, KEY_TAG, (value, name) => {
      const [, bytes] = value as readonly [string, Uint8Array];
      const text = submitted.get(bytes);
      return text === undefined ? name : honest.crypto.sha256(text);
    }),
    providers: new Map(
      [...honest.providers].map(([algorithm, provider]) => [
        algorithm,
        {
          algorithm,
          normalize: (encoded) =>
            Either.map(provider.normalize(encoded), (bytes) => {
              if (bytes !== encoded) submitted.set(bytes, encoded);
              return bytes;
            }),
        },
      ]),
    ),
  };
};

const withCryptography = (cryptography: NonNullable<Tampering["cryptography"]>) => (): Tampering => ({ cryptography });

export const identityBugs: ReadonlyArray<PlantedBug> = [
  {
    name: "identity-as-submitted",
    changes: "a key is another one in each encoding that it is submitted in",
    finds: "S30",
    orFinds: ["S7", "S49"],
    schedule: "swarm",
    tampering: withCryptography(asSubmitted),
  },
  {
    name: "identity-without-algorithm",
    changes: "the same bytes are the same key under every algorithm",
    finds: "S30",
    orFinds: ["H1"],
    schedule: "swarm",
    tampering: withCryptography((honest) => ({
      ...honest,
      crypto: naming(honest.crypto, KEY_TAG, (value) =>
        honest.crypto.sha256((value as readonly [string, Uint8Array])[1]),
      ),
    })),
  },
  {
    name: "formats-have-separate-owners",
    changes: "the key of a passkey is another one than the same key that signs",
    finds: "S30",
    orFinds: ["S7"],
    schedule: "swarm",
    tampering: withCryptography((honest) => ({
      ...honest,
      ceremony: (submitted) =>
        Either.map(honest.ceremony(submitted), (proved) => ({
          ...proved,
          keyBytes: Uint8Array.of(0, ...proved.keyBytes),
        })),
    })),
  },
  {
    name: "one-credential-anywhere",
    changes: "a credential's id is taken for the same at every relying party",
    finds: "S30",
    schedule: "another-relying-party",
    tampering: withCryptography((honest) => ({
      ...honest,
      crypto: naming(honest.crypto, CREDENTIAL_TAG, (value) =>
        honest.crypto.sha256OfText((value as readonly [string, string])[1]),
      ),
    })),
  },
  {
    name: "counters-must-count",
    changes: "an authenticator that does not count is refused",
    finds: "S30",
    schedule: "another-relying-party",
    tampering: withCryptography((honest) => ({
      ...honest,
      ceremony: (submitted) =>
        Either.filterOrLeft(
          honest.ceremony(submitted),
          ({ observations }) => observations.signCount > 0,
          () => ({ check: "authenticator_data", pointer: "", detail: "It does not count." }) as const,
        ),
    })),
  },
  {
    name: "short-counters",
    changes: "of an authenticator's counter two bytes are kept",
    finds: "S30",
    schedule: "another-relying-party",
    tampering: withCryptography((honest) => ({
      ...honest,
      ceremony: (submitted) =>
        Either.map(honest.ceremony(submitted), (proved) => ({
          ...proved,
          observations: { ...proved.observations, signCount: proved.observations.signCount & 0xffff },
        })),
    })),
  },
  {
    name: "any-relying-party",
    changes: "a response is taken for whichever relying party it was made",
    finds: "S30",
    schedule: "another-relying-party",
    tampering: withCryptography((honest) => ({
      ...honest,
      ceremony: (submitted) => {
        const { credential, relyingParty } = submitted;
        const attestationObject = Uint8Array.from(credential.attestationObject);
        attestationObject[attestationObject.length - 1] = byteOf(relyingParty.rpId);
        return honest.ceremony({ ...submitted, credential: { ...credential, attestationObject } });
      },
    })),
  },
  {
    name: "responses-are-never-equal",
    changes: "a response that is sent again is taken for another one",
    finds: "S30",
    orFinds: ["H1"],
    schedule: "finish-race-two-peers",
    tampering: withCryptography((honest) => {
      let asked = 0;
      return {
        ...honest,
        crypto: naming(honest.crypto, FINISH_TAG, (_value, name) => honest.crypto.sha256OfText(`${name} ${asked++}`)),
      };
    }),
  },
];
