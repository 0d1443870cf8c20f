import { Either, Encoding } from "effect";
import { describe, expect, it } from "vitest";
import { type CredentialJson, makeCredential } from "../../properties/webauthn/Authenticator.ts";
import { cryptoOf } from "../../runtime/CryptoPrimitives.ts";
import { noblePrimitives } from "../../runtime/NobleCrypto.ts";
import { Limits } from "../base/Limits.ts";
import { parseFinishRequest, responseDigest } from "./FinishRequest.ts";

const invitation = Encoding.encodeBase64Url(new Uint8Array(32).fill(7));
const credential = makeCredential({
  challenge: new Uint8Array(32),
  origin: "https://example.org",
  rpId: "example.org",
});
const parse = (body: string | Uint8Array) =>
  parseFinishRequest(typeof body === "string" ? new TextEncoder().encode(body) : body);
const bodyOf = (change: (credential: CredentialJson) => unknown, more: object = {}): string =>
  JSON.stringify({ invitation, credential: change(credential), ...more });
const refusalOf = (body: string) => Either.getOrThrow(Either.flip(parse(body)));
const faultsOf = (body: string) => {
  const { code, faults } = refusalOf(body);
  return [code, ...faults.map((fault) => `${fault.pointer} ${fault.code}`)];
};
const inResponse = (more: object) => bodyOf((honest) => ({ ...honest, response: { ...honest.response, ...more } }));
const without = (object: object, key: string) =>
  Object.fromEntries(Object.entries(object).filter(([name]) => name !== key));

describe("a finish request", () => {
  it("is read into bytes", () => {
    const read = Either.getOrThrow(parse(bodyOf((honest) => honest)));
    expect(read.invitation).toEqual(new Uint8Array(32).fill(7));
    expect(Encoding.encodeBase64Url(read.credential.id)).toBe(credential.id);
    expect(Encoding.encodeBase64Url(read.credential.attestationObject)).toBe(credential.response.attestationObject);
    expect(read.credential.transports).toEqual(["nfc", "usb"]);
    expect(read.credential.reported.publicKeyAlgorithm).toBe(-7);
  });

  it("may leave out what only newer browsers send", () => {
    const { clientDataJSON, attestationObject } = credential.response;
    const least = bodyOf(({ id, rawId, type }) => ({
      id,
      rawId,
      type,
      response: { clientDataJSON, attestationObject },
      clientExtensionResults: {},
    }));
    const { reported, transports } = Either.getOrThrow(parse(least)).credential;
    expect(transports).toEqual([]);
    expect(reported).toEqual({ authenticatorData: undefined, publicKey: undefined, publicKeyAlgorithm: undefined });
  });

  it("may name transports that nobody knows, and an authenticator, as long as they may be", () => {
    const transports = ["smart-card", "a".repeat(Limits.transportCharacters)];
    expect(parse(inResponse({ transports }))._tag).toBe("Right");
    const credProps = { authenticatorDisplayName: "é".repeat(Limits.displayNameBytes / 2) };
    expect(parse(bodyOf((honest) => ({ ...honest, clientExtensionResults: { credProps } })))._tag).toBe("Right");
  });

  it.each(["platform", "cross-platform"])("may name the attachment %s", (authenticatorAttachment) => {
    expect(parse(bodyOf((honest) => ({ ...honest, authenticatorAttachment })))._tag).toBe("Right");
  });

  it.each<readonly [string, string, ReadonlyArray<string>]>([
    ["no invitation", JSON.stringify({ credential }), ["/invitation missing_field"]],
    ["a null invitation", bodyOf((honest) => honest, { invitation: null }), ["/invitation null_value"]],
    ["a registrationId", bodyOf((honest) => honest, { registrationId: "x" }), ["/registrationId unknown_field"]],
    ["no credential", JSON.stringify({ invitation }), ["/credential missing_field"]],
    ["another type", bodyOf((honest) => ({ ...honest, type: "password" })), ["/credential/type invalid_value"]],
    ["an unknown member", bodyOf((honest) => ({ ...honest, x: 1 })), ["/credential/x unknown_field"]],
    ["padding", bodyOf((honest) => ({ ...honest, id: `${honest.id}=` })), ["/credential/id invalid_value"]],
    ["no client data", inResponse({ clientDataJSON: "" }), ["/credential/response/clientDataJSON invalid_value"]],
    [
      "an id that no authenticator can attest",
      bodyOf((honest) => ({ ...honest, id: "AAAA".repeat(21_846) })),
      ["/credential/id invalid_value"],
    ],
    [
      "bits left over",
      bodyOf((honest) => ({ ...honest, rawId: `${honest.rawId.slice(0, -1)}B` })),
      ["/credential/rawId invalid_value"],
    ],
    ["white space", inResponse({ clientDataJSON: "AA\n" }), ["/credential/response/clientDataJSON invalid_value"]],
    [
      "the other alphabet",
      inResponse({ clientDataJSON: "++//" }),
      ["/credential/response/clientDataJSON invalid_value"],
    ],
    [
      "client data over its limit",
      inResponse({ clientDataJSON: Encoding.encodeBase64Url(new Uint8Array(Limits.clientDataBytes + 1)) }),
      ["/credential/response/clientDataJSON invalid_value"],
    ],
    [
      "an attestation object over its limit",
      inResponse({ attestationObject: Encoding.encodeBase64Url(new Uint8Array(Limits.attestationObjectBytes + 1)) }),
      ["/credential/response/attestationObject invalid_value"],
    ],
    ["null transports", inResponse({ transports: null }), ["/credential/response/transports null_value"]],
    ["a transport that is a number", inResponse({ transports: [1] }), ["/credential/response/transports/0 wrong_type"]],
    [
      "a transport that is no word",
      inResponse({ transports: ["usb", "U S B"] }),
      ["/credential/response/transports/1 invalid_value"],
    ],
    [
      "too many transports",
      inResponse({ transports: Array.from({ length: Limits.transports + 1 }, () => "usb") }),
      ["/credential/response/transports too_many"],
    ],
    [
      "a display name over its limit",
      bodyOf((honest) => ({
        ...honest,
        clientExtensionResults: {
          credProps: { authenticatorDisplayName: "é".repeat(Limits.displayNameBytes / 2 + 1) },
        },
      })),
      ["/credential/clientExtensionResults/credProps/authenticatorDisplayName invalid_value"],
    ],
    ...["-usb", "usb-", "us--b", "Usb", "us_b", "a".repeat(Limits.transportCharacters + 1)].map(
      (word) =>
        [
          `the transport ${word}`,
          inResponse({ transports: [word] }),
          ["/credential/response/transports/0 invalid_value"],
        ] as const,
    ),
    ["a null publicKey", inResponse({ publicKey: null }), ["/credential/response/publicKey null_value"]],
    [
      "an algorithm that is no integer",
      inResponse({ publicKeyAlgorithm: -7.5 }),
      ["/credential/response/publicKeyAlgorithm wrong_type"],
    ],
    ["a userHandle", inResponse({ userHandle: "AA" }), ["/credential/response/userHandle unknown_field"]],
    [
      "another attachment",
      bodyOf((honest) => ({ ...honest, authenticatorAttachment: "glued" })),
      ["/credential/authenticatorAttachment invalid_value"],
    ],
    [
      "no extension results",
      bodyOf((honest) => without(honest, "clientExtensionResults")),
      ["/credential/clientExtensionResults missing_field"],
    ],
    [
      "credProps of another type",
      bodyOf((honest) => ({ ...honest, clientExtensionResults: { credProps: true } })),
      ["/credential/clientExtensionResults/credProps wrong_type"],
    ],
    [
      "an rk that is text",
      bodyOf((honest) => ({ ...honest, clientExtensionResults: { credProps: { rk: "yes" } } })),
      ["/credential/clientExtensionResults/credProps/rk wrong_type"],
    ],
    [
      "a duplicate key",
      bodyOf((honest) => honest).replace('"type":', '"rawId":"AA","type":'),
      ["/credential/rawId duplicate_key"],
    ],
    ["trailing bytes", `${bodyOf((honest) => honest)}{}`, [" trailing_bytes"]],
  ])("is refused for %s", (_, body, faults) => expect(faultsOf(body)).toEqual(["INVALID_REQUEST_BODY", ...faults]));

  it.each<readonly [string, object, string]>([
    ["clientDataJSON", { clientDataJSON: "" }, "This must not be empty."],
    [
      "clientDataJSON",
      { clientDataJSON: "AA==" },
      "This must be unpadded Base64url of at most 16384 bytes; character 3 is padding.",
    ],
    [
      "attestationObject",
      { attestationObject: "A".repeat(87_383) },
      "This must be unpadded Base64url of at most 65536 bytes, which are 87382 characters; there are 87383.",
    ],
    [
      "publicKey",
      { publicKey: "++" },
      "This must be unpadded Base64url of at most 4096 bytes; character 1 is one of the other alphabet, which has + and / for - and _.",
    ],
  ])("is told why its %s is wrong, and what the limit is", (member, change, detail) => {
    const pointer = `/credential/response/${member}`;
    expect(refusalOf(inResponse(change)).faults).toEqual([{ pointer, code: "invalid_value", detail }]);
  });

  it("leaves the length of ids to the ceremony", () => {
    for (const length of [0, 1_024]) {
      const id = Encoding.encodeBase64Url(new Uint8Array(length));
      const read = Either.getOrThrow(parse(bodyOf((honest) => ({ ...honest, id, rawId: id })))).credential;
      expect([read.id.length, read.rawId.length]).toEqual([length, length]);
    }
  });

  it.each(["", "A".repeat(42), "A".repeat(44), `${"A".repeat(42)}B`, `${"A".repeat(43)}=`, "registration id"])(
    "is refused as a ceremony for the invitation %j",
    (text) => {
      const body = bodyOf((honest) => honest, { invitation: text });
      expect(faultsOf(body)).toEqual(["INVALID_CEREMONY", "/invitation invitation"]);
    },
  );

  it("is refused for client extensions that nobody requested, each by name", () => {
    const clientExtensionResults = { appid: true, credProps: { rk: false }, "a/b": { x: [1.5, null] }, prf: {} };
    expect(faultsOf(bodyOf((honest) => ({ ...honest, clientExtensionResults })))).toEqual([
      "INVALID_CEREMONY",
      "/credential/clientExtensionResults/appid client_extension",
      "/credential/clientExtensionResults/a~1b client_extension",
      "/credential/clientExtensionResults/prf client_extension",
    ]);
  });

  it("takes 256 KiB and not a byte more, white space included", () => {
    expect(Limits.requestBodyBytes).toBe(256 * 1024);
    const text = bodyOf((honest) => honest);
    expect(Either.isRight(parse(text.padEnd(Limits.requestBodyBytes)))).toBe(true);
    const { code, faults } = refusalOf(text.padEnd(Limits.requestBodyBytes + 1));
    const detail = "This request body takes at most 262144 bytes.";
    expect([code, faults]).toEqual(["INVALID_REQUEST_BODY", [{ pointer: "", code: "too_large", detail }]]);
  });

  it("has room for a response in which everything is as long as it may be", () => {
    const longest = (bytes: number) => Encoding.encodeBase64Url(new Uint8Array(bytes));
    const id = longest(Limits.credentialIdBytes);
    const response = {
      clientDataJSON: longest(Limits.clientDataBytes),
      attestationObject: longest(Limits.attestationObjectBytes),
      authenticatorData: longest(Limits.attestationObjectBytes),
      publicKey: longest(Limits.publicKeyBytes),
      publicKeyAlgorithm: -7,
      transports: Array.from({ length: Limits.transports }, (_, index) => `t${index}`.padEnd(32, "x")),
    };
    expect(Either.isRight(parse(bodyOf((honest) => ({ ...honest, id, rawId: id, response }))))).toBe(true);
  });

  it("is refused without quoting anything of it", () => {
    const body = bodyOf((honest) => ({ ...honest, id: "s3cr3t+" }), { invitation: "s3cr3t" });
    expect(JSON.stringify(refusalOf(body))).not.toContain("s3cr3t");
  });
});

describe("the digest of a response", () => {
  const crypto = cryptoOf(noblePrimitives);
  const digestOf = (body: string) => responseDigest(crypto, Either.getOrThrow(parse(body)));
  const honest = digestOf(bodyOf((each) => each));

  it("does not depend on white space, on the order of members or on the invitation", () => {
    const spaced = JSON.stringify({ credential, invitation }, undefined, 2);
    expect(digestOf(spaced)).toBe(honest);
    expect(digestOf(bodyOf((each) => Object.fromEntries(Object.entries(each).toReversed())))).toBe(honest);
    expect(digestOf(bodyOf((each) => each, { invitation: "A".repeat(43) }))).toBe(honest);
  });

  it("counts a null attachment as absent", () => {
    const absent = bodyOf((each) => without(each, "authenticatorAttachment"));
    expect(digestOf(bodyOf((each) => ({ ...each, authenticatorAttachment: null })))).toBe(digestOf(absent));
    expect(digestOf(absent)).not.toBe(honest);
  });

  it("differs for another response", () => {
    expect(digestOf(inResponse({ transports: ["usb"] }))).not.toBe(honest);
  });
});
