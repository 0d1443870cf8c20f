/** Honest authenticators and browsers of every kind, as values of fast-check: they differ in all that may differ. */
import { encode } from "cborg";
import fc from "fast-check";
import { androidKey, apple, intermediate, packedCertified, root, tpm } from "./Attestations.ts";
import { type CredentialJson, Flags, makeCredential, type Making, none, packedSelf } from "./Authenticator.ts";

/** The challenge that a registration answers, and its other inputs. */
export interface Asked {
  readonly challenge: Uint8Array;
  readonly origin: string;
  readonly rpId: string;
}

/** One registration, and its differences from others. */
export interface AnyRegistration {
  readonly making: Making & Required<Pick<Making, "seed" | "flags" | "signCount" | "aaguid" | "credentialId">>;
  readonly transports: ReadonlyArray<string>;
  /** Optional members that a browser may add. */
  readonly dressed: (honest: CredentialJson) => object;
}

const formats = [
  none,
  packedSelf,
  packedCertified(),
  packedCertified({ issuer: intermediate, behind: [intermediate.certificate, root.certificate] }),
  tpm(),
  androidKey(),
  apple(),
];

/** The canonical order of CTAP2, which `encode` writes, and every kind of value an extension may have. */
const cborValue = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: "small" },
    fc.maxSafeInteger(),
    fc.boolean(),
    fc.constant(null),
    fc.fullUnicodeString({ maxLength: 8 }),
    fc.uint8Array({ maxLength: 40 }),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(fc.string({ maxLength: 6 }), tie("value"), { maxKeys: 3 }),
  ),
})).value;
const extensions = fc.dictionary(fc.string({ maxLength: 12 }), cborValue, { maxKeys: 3 }).map((map) => encode(map));

const known = new Set(["type", "challenge", "origin", "crossOrigin", "topOrigin", "tokenBinding"]);
const unknownName = fc.fullUnicodeString({ maxLength: 12 }).filter((name) => !known.has(name) && name !== "__proto__");
const spaces = fc.stringOf(fc.constantFrom(" ", "\n", "\r", "\t"), { maxLength: 2 });

/** Client data with unknown members, all in any order and with white space anywhere. */
const clientData = fc
  .record({
    unknown: fc.dictionary(unknownName, fc.jsonValue({ maxDepth: 3 }), { maxKeys: 4 }),
    saysCrossOrigin: fc.boolean(),
    tokenBinding: fc.constantFrom(undefined, "supported", "not-supported"),
    order: fc.array(fc.nat(), { minLength: 9, maxLength: 9 }),
    space: spaces,
  })
  .map(({ unknown, saysCrossOrigin, tokenBinding, order, space }) => (honest: string): string => {
    const { crossOrigin, ...own }: { readonly [member: string]: unknown } = JSON.parse(honest);
    const members = Object.entries({
      ...own,
      ...unknown,
      ...(saysCrossOrigin ? { crossOrigin } : {}),
      ...(tokenBinding === undefined ? {} : { tokenBinding: { status: tokenBinding } }),
    });
    const written = members
      .map(([name, value], index) => ({
        at: order[index] ?? 0,
        text: `${JSON.stringify(name)}:${JSON.stringify(value)}`,
      }))
      .toSorted((left, right) => left.at - right.at)
      .map(({ text }) => text);
    return `${space}{${space}${written.join(`${space},${space}`)}}${space}`;
  });

const dressing = fc
  .record({
    attachment: fc.constantFrom(undefined, null, "platform", "cross-platform"),
    repeats: fc.subarray(["authenticatorData", "publicKey", "publicKeyAlgorithm"] as const),
    transports: fc.option(fc.subarray(["usb", "nfc", "ble", "internal", "hybrid", "smart-card"]), { nil: undefined }),
    extensions: fc.constantFrom<object>({}, { credProps: {} }, { credProps: { rk: false } }),
  })
  .map(({ attachment, repeats, transports, extensions: clientExtensionResults }) => ({
    transports: (transports ?? []).toSorted(),
    dressed: ({ response, id, rawId, type }: CredentialJson): object => ({
      ...(attachment === undefined ? {} : { authenticatorAttachment: attachment }),
      clientExtensionResults,
      response: {
        ...Object.fromEntries(repeats.map((name) => [name, response[name]])),
        attestationObject: response.attestationObject,
        ...(transports === undefined ? {} : { transports: transports.toReversed() }),
        clientDataJSON: response.clientDataJSON,
      },
      type,
      rawId,
      id,
    }),
  }));

const backup = fc.constantFrom(0, Flags.BE, Flags.BE | Flags.BS);
const idLength = fc.oneof(fc.constantFrom(16, 17, 32, 1022, 1023), fc.integer({ min: 16, max: 1023 }));

/** A registration for these inputs, by any honest authenticator through any honest browser. */
export const anyRegistration = (asked: Asked): fc.Arbitrary<AnyRegistration> =>
  fc
    .record({
      attestation: fc.constantFrom(...formats),
      seed: fc.nat({ max: 1_000 }).map((number) => `authenticator ${number}`),
      backup,
      extensions: fc.option(extensions, { nil: undefined }),
      signCount: fc.oneof(fc.constantFrom(0, 0xffff_ffff), fc.nat({ max: 0xffff_ffff })),
      aaguid: fc.uint8Array({ minLength: 16, maxLength: 16 }),
      credentialId: idLength.chain((length) => fc.nat({ max: 255 }).map((byte) => new Uint8Array(length).fill(byte))),
      clientData,
      dressing,
    })
    .map(({ attestation, seed, extensions: given, signCount, aaguid, credentialId, ...others }) => ({
      ...others.dressing,
      making: {
        ...asked,
        attestation,
        seed,
        signCount,
        aaguid,
        credentialId,
        clientData: others.clientData,
        flags: Flags.UP | Flags.UV | Flags.AT | others.backup | (given === undefined ? 0 : Flags.ED),
        ...(given === undefined ? {} : { extensions: given }),
      },
    }));

/** The body of a finish. */
export const bodyOf = (invitation: string, { making, dressed }: AnyRegistration): string =>
  JSON.stringify({ credential: dressed(makeCredential(making)), invitation });
