import { describe, expect, it } from "vitest";
import { secretKeyOf } from "../../properties/webauthn/Authenticator.ts";
import {
  type Authority,
  authorityOf,
  basicConstraints,
  type Changes,
  keyUsage,
  signerOf,
} from "../../properties/webauthn/Certificates.ts";
import { name, oid, sequence } from "../../properties/webauthn/DerWriter.ts";
import { refusalOf } from "../../properties/webauthn/RefusalOf.ts";
import { relyingPartyOf } from "../../properties/webauthn/Verification.ts";
import { nobleCeremonyCrypto } from "../../runtime/NobleCeremonyCrypto.ts";
import { Limits } from "../base/Limits.ts";
import { checkChain, readChain, trustRootFault } from "./CertificateChain.ts";

/** 1 January 2026, in Unix milliseconds. */
const AT = 1_767_225_600_000;
/** 1 June 2025 and a day later, as `notBefore` and `notAfter` below. */
const [FROM, TO] = [1_748_736_000_000, 1_748_822_400_000];

/** The refusal of certificates in this order, the attestation key's first, under these roots. */
const faultOf = (
  chain: ReadonlyArray<Authority>,
  roots: ReadonlyArray<Authority> = [],
  at = AT,
): string | undefined => {
  const x5c = chain.map(({ certificate }) => certificate);
  const relyingParty = relyingPartyOf({ trustRoots: roots.map(({ certificate }) => certificate) });
  return refusalOf(() => checkChain(nobleCeremonyCrypto, readChain(new Map([["x5c", x5c]])), relyingParty, at));
};

const NOT_VALID = "certificate_validity: A certificate is not valid at this time.";
const NOT_NAMED = "certificate_chain: A certificate does not name the next one as its issuer.";
const MAY_NOT_ISSUE = "certificate_chain: A certificate is issued by one that may issue none.";
const TOO_LONG = "certificate_chain: A chain is longer than one of its authorities allows.";
const NOT_SIGNED = "certificate_chain: The signature of a certificate does not verify.";
const NO_ROOT = "trust_root: The chain leads to none of the trusted roots.";

const rsaWithSha256 = sequence(oid("1.2.840.113549.1.1.11"));
const root = authorityOf("Root");
/** Three: a leaf, an authority changed as a test wants it, and the root. */
const through = (changes: Changes): ReadonlyArray<Authority> => {
  const middle = authorityOf("Middle", root, changes);
  return [authorityOf("Leaf", middle), middle, root];
};

describe("x5c", () => {
  const read = (x5c: ReadonlyArray<Uint8Array | string>) => () => readChain(new Map([["x5c", x5c]]));
  const certificates = (count: number) => Array.from({ length: count }, () => root.certificate);

  it("has one certificate at least and eight at most", () => {
    expect(read(certificates(Limits.chainCertificates))().authorities).toHaveLength(7);
    expect(read(certificates(1))()).toMatchObject({ leaf: { der: root.certificate }, authorities: [] });
    for (const wrong of [certificates(0), certificates(Limits.chainCertificates + 1), ["certificate"]])
      expect(read(wrong)).toThrow(
        expect.objectContaining({ refusal: expect.objectContaining({ check: "attestation_statement" }) }),
      );
  });
});

describe("a chain", () => {
  it("holds together where each certificate is issued by the next", () => {
    expect(faultOf(through({}))).toBeUndefined();
    expect(faultOf([root])).toBeUndefined();
  });

  it("may have authorities of whose use nothing is said", () => {
    expect(faultOf(through({ extensions: [basicConstraints(true)] }))).toBeUndefined();
  });

  it.each<readonly [string, Changes, string]>([
    ["that has another name", { subject: name(["2.5.4.3", "Somebody"]) }, NOT_NAMED],
    ["of which nothing says that it may", { extensions: [] }, MAY_NOT_ISSUE],
    ["that is no authority", { extensions: [basicConstraints(false)] }, MAY_NOT_ISSUE],
    ["whose key signs other things", { extensions: [basicConstraints(true), keyUsage(0x80, 7)] }, MAY_NOT_ISSUE],
    ["of version 2", { version: 2, extensions: [] }, MAY_NOT_ISSUE],
    ["that signs as one of RSA would", { signer: { ...root.signer, algorithm: rsaWithSha256 } }, NOT_SIGNED],
    [
      "that has another key",
      { subjectPublicKeyInfo: signerOf(secretKeyOf("Somebody")).subjectPublicKeyInfo },
      NOT_SIGNED,
    ],
  ])("does not hold with an authority %s", (_, changes, refusal) => {
    expect(faultOf(through(changes))).toBe(refusal);
  });

  it("is no longer than each of its authorities allows", () => {
    const bottomOf = (pathLength: number): ReadonlyArray<Authority> => {
      const top = authorityOf("Top", root, { extensions: [basicConstraints(true, pathLength)] });
      const middle = authorityOf("Middle", top);
      return [authorityOf("Leaf", middle), middle, top, root];
    };
    expect(faultOf(bottomOf(1))).toBeUndefined();
    expect(faultOf(bottomOf(2))).toBeUndefined();
    expect(faultOf(bottomOf(0))).toBe(TOO_LONG);
    expect(faultOf(through({ extensions: [basicConstraints(true, 0)] }))).toBeUndefined();
    const top = authorityOf("Top", undefined, { extensions: [basicConstraints(true, 1)] });
    const middles = ["One", "Two"].reduce<ReadonlyArray<Authority>>(
      ([issuer = top, ...above], label) => [authorityOf(label, issuer), issuer, ...above],
      [top],
    );
    expect(faultOf([authorityOf("Leaf", middles[0]), ...middles])).toBe(TOO_LONG);
  });

  it("is valid from the first moment of each certificate to the last one", () => {
    const chain = through({ notBefore: "250601000000Z", notAfter: "250602000000Z" });
    const refusals = [FROM - 1, FROM, TO, TO + 1].map((at) => faultOf(chain, [], at));
    expect(refusals).toEqual([NOT_VALID, undefined, undefined, NOT_VALID]);
  });
});

describe("a trusted root", () => {
  it("is part of the chain, or has issued its last certificate", () => {
    expect(faultOf(through({}), [root])).toBeUndefined();
    expect(faultOf(through({}).slice(0, 2), [root])).toBeUndefined();
    expect(faultOf(through({}).slice(0, 1), [root])).toBe(NO_ROOT);
    expect(faultOf(through({}), [authorityOf("Other")])).toBe(NO_ROOT);
    expect(faultOf(through({}), [authorityOf("Other"), root])).toBeUndefined();
  });

  it("issues from its first moment to its last one", () => {
    const short = authorityOf("Root", undefined, { notBefore: "250601000000Z", notAfter: "250602000000Z" });
    const chain = [authorityOf("Leaf", root)];
    const refusals = [FROM - 1, FROM, TO, TO + 1].map((at) => faultOf(chain, [short], at));
    expect(refusals).toEqual([NO_ROOT, undefined, undefined, NO_ROOT]);
  });

  it("is bound to the length that it allows", () => {
    const narrow = authorityOf("Root", undefined, { extensions: [basicConstraints(true, 0)] });
    expect(faultOf([authorityOf("Leaf", narrow)], [narrow])).toBeUndefined();
    expect(faultOf(through({}).slice(0, 2), [narrow])).toBe(NO_ROOT);
  });

  it("can be read", () => {
    expect(trustRootFault(root.certificate)).toBeUndefined();
    expect(trustRootFault(root.certificate.subarray(1))).toMatch(/ in a certificate\.$/);
    // An error that is not our own refusal is not taken for one.
    expect(() => trustRootFault(undefined as unknown as Uint8Array)).toThrow("length");
  });
});
