import {
  createHmac,
  createSign,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign as signBytes,
} from "node:crypto";
import { Either } from "effect";
import { exportSPKI, SignJWT } from "jose";
import { beforeEach, describe, expect, it } from "vitest";
import type { ActorClaims } from "../../core/auth/ActorClaims.ts";
import { tokenAlgorithms } from "../config/ConfigSchema.ts";
import { KeyRing } from "./KeyRing.ts";
import { makeTokenVerifier, maxTokenLength, type TokenVerifier } from "./TokenVerifier.ts";

type Json = Readonly<Record<string, unknown>>;

const now = 1_800_000_000_000;
const seconds = now / 1000;

const ed25519 = generateKeyPairSync("ed25519");
const p256 = generateKeyPairSync("ec", { namedCurve: "P-256" });
const p384 = generateKeyPairSync("ec", { namedCurve: "P-384" });
const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const stranger = generateKeyPairSync("ed25519");

const jwkOf = (key: KeyObject, kid: string): Json => ({ ...key.export({ format: "jwk" }), kid });
const keySet = (...keys: ReadonlyArray<Json>): Uint8Array => new TextEncoder().encode(JSON.stringify({ keys }));
const allKeys = keySet(
  jwkOf(ed25519.publicKey, "ed"),
  jwkOf(p256.publicKey, "p256"),
  jwkOf(p384.publicKey, "p384"),
  jwkOf(rsa.publicKey, "rsa"),
);

const claims: Json = {
  iss: "https://issuer.example",
  sub: "alice",
  aud: "custody",
  exp: seconds + 60,
  permissions: ["service.approvers.register"],
};

const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString("base64url");
const withSignature = (input: string, signature: Buffer): string => `${input}.${signature.toString("base64url")}`;

/** A token put together by hand, so that its header may say anything; signed with Ed25519. */
const forged = (header: unknown, payload: unknown = claims, key: KeyObject = ed25519.privateKey): string => {
  const input = `${encode(header)}.${encode(payload)}`;
  return withSignature(input, signBytes(null, Buffer.from(input), key));
};
const signed = (payload: Json = claims, header: Json = {}): string =>
  forged({ alg: "EdDSA", kid: "ed", ...header }, payload);

let elapsed: number;
let fetches: number;
let published: Either.Either<Uint8Array, string>;

const verifierWith = (
  algorithms: ReadonlyArray<string> = tokenAlgorithms,
  tokenTypes: ReadonlyArray<string> = ["JWT", "at+jwt", "absent"],
): TokenVerifier =>
  makeTokenVerifier({
    keys: new KeyRing({
      source: () => {
        fetches += 1;
        return Promise.resolve(published);
      },
      maxAgeMillis: 86_400_000,
      elapsedMillis: () => elapsed,
      report: () => undefined,
    }),
    algorithms,
    tokenTypes,
  });

let verifier: TokenVerifier;
beforeEach(() => {
  elapsed = 0;
  fetches = 0;
  published = Either.right(allKeys);
  verifier = verifierWith();
});

const accepted = async (token: string): Promise<ActorClaims> => Either.getOrThrow(await verifier.verify(token));
const reason = async (token: string): Promise<string> => {
  const fault = Either.getOrThrow(Either.flip(await verifier.verify(token)));
  return fault._tag === "Refused" ? fault.reason : fault._tag;
};

describe("a good token", () => {
  it.each<[string, KeyObject, string]>([
    ["EdDSA", ed25519.privateKey, "ed"],
    ["ES256", p256.privateKey, "p256"],
    ["ES384", p384.privateKey, "p384"],
    ["RS256", rsa.privateKey, "rsa"],
    ["PS256", rsa.privateKey, "rsa"],
  ])("is accepted with %s", async (alg, key, kid) => {
    const token = await new SignJWT({ ...claims }).setProtectedHeader({ alg, kid }).sign(key);
    expect(await accepted(token)).toEqual({
      iss: "https://issuer.example",
      sub: "alice",
      jti: undefined,
      audience: ["custody"],
      expiresAt: now + 60_000,
      notBefore: undefined,
      issuedAt: undefined,
      permissions: ["service.approvers.register"],
    });
  });

  it("may leave out kid where one key fits, and name several audiences", async () => {
    expect((await accepted(forged({ alg: "EdDSA" }))).sub).toBe("alice");
    expect((await accepted(signed({ ...claims, aud: ["other", "custody"] }))).audience).toEqual(["other", "custody"]);
  });

  it("is left to the core to judge: whom it is for, who issued it and when it holds", async () => {
    const others = { ...claims, iss: "https://other.example", aud: [], exp: seconds - 60, nbf: seconds + 60 };
    expect(await accepted(signed(others))).toMatchObject({
      iss: "https://other.example",
      audience: [],
      expiresAt: now - 60_000,
      notBefore: now + 60_000,
    });
  });
});

describe("what a token says it is", () => {
  it.each(["JWT", "jwt", "at+jwt", "AT+JWT", "application/at+jwt", "application/jwt"])("may be %s", async (typ) => {
    expect((await accepted(signed(claims, { typ }))).sub).toBe("alice");
  });

  it.each<unknown>([
    "dpop+jwt",
    "application/dpop+jwt",
    "logout+jwt",
    "secevent+jwt",
    "absent",
    "",
    "x/application/at+jwt",
    "application/x/at+jwt",
    null,
    ["JWT"],
  ])("may not be %j", async (typ) => {
    expect(await reason(signed(claims, { typ }))).toBe("its type (typ) is not one of JWT, at+jwt, absent");
  });

  it("may be held to one word", async () => {
    verifier = verifierWith(tokenAlgorithms, ["Custody+JWT"]);
    expect((await accepted(signed(claims, { typ: "custody+jwt" }))).sub).toBe("alice");
    for (const header of [{}, { typ: "JWT" }])
      expect(await reason(signed(claims, header))).toBe("its type (typ) is not one of Custody+JWT");
  });
});

describe("an attack", () => {
  const secret = randomBytes(32);
  const hmac = (header: Json, key: string | Buffer): string => {
    const input = `${encode(header)}.${encode(claims)}`;
    return withSignature(input, createHmac("sha256", key).update(input).digest());
  };
  const notListed = /^its algorithm is not one of/;
  const noKey = "its key is not in the key set";
  const badSignature = "its signature does not hold";

  it.each<[string, string | RegExp, () => string | Promise<string>]>([
    ["alg none without signature", "it is not a compact JWT", () => `${encode({ alg: "none" })}.${encode(claims)}.`],
    ["alg none with a signature", notListed, () => forged({ alg: "none" })],
    ["alg NONE", notListed, () => forged({ alg: "NONE" })],
    ["alg eddsa in the wrong case", notListed, () => forged({ alg: "eddsa", kid: "ed" })],
    ["alg of the newer name", notListed, () => forged({ alg: "Ed25519", kid: "ed" })],
    ["no alg", notListed, () => forged({ kid: "ed" })],
    ["an alg that is a list", notListed, () => forged({ alg: ["EdDSA"], kid: "ed" })],
    [
      "HS256 with the public key as secret",
      notListed,
      async () => hmac({ alg: "HS256", kid: "rsa" }, await exportSPKI(rsa.publicKey)),
    ],
    ["HS256 with a secret of its own", notListed, () => hmac({ alg: "HS256", kid: "ed" }, secret)],
    ["HS256 with an embedded secret", /parameter jwk/, () => hmac({ alg: "HS256", jwk: { kty: "oct" } }, secret)],
    [
      "an embedded key",
      /parameter jwk/,
      () => forged({ alg: "EdDSA", jwk: jwkOf(stranger.publicKey, "ed") }, claims, stranger.privateKey),
    ],
    ["a key address", /parameter jku/, () => signed(claims, { jku: "https://evil.example/keys" })],
    ["a certificate address", /parameter x5u/, () => signed(claims, { x5u: "https://evil.example/cert" })],
    ["an embedded certificate", /parameter x5c/, () => signed(claims, { x5c: ["AA"] })],
    ["an unknown critical extension", /parameter crit/, () => signed(claims, { crit: ["exp"], exp: 1 })],
    ["a known critical extension", /parameter crit/, () => signed(claims, { crit: ["b64"], b64: true })],
    ["an unencoded payload", /parameter crit/, () => signed(claims, { crit: ["b64"], b64: false })],
    ["an empty list of extensions", /parameter crit/, () => signed(claims, { crit: [] })],
    [
      "another signer under a known kid",
      badSignature,
      () => forged({ alg: "EdDSA", kid: "ed" }, claims, stranger.privateKey),
    ],
    ["an unknown kid", noKey, () => signed(claims, { kid: "nobody" })],
    ["a kid that is a path", noKey, () => signed(claims, { kid: "../../dev/null" })],
    ["a kid that is a number", "its kid is not a text", () => signed(claims, { kid: 1 })],
    ["the kid of a key for another algorithm", noKey, () => signed(claims, { kid: "p256" })],
    ["an algorithm of another key type", noKey, () => signed(claims, { alg: "ES256" })],
    [
      "a DER signature where the raw form belongs",
      badSignature,
      () => {
        const input = `${encode({ alg: "ES256", kid: "p256" })}.${encode(claims)}`;
        return withSignature(input, createSign("sha256").update(input).sign(p256.privateKey));
      },
    ],
    [
      "an all-zero ES256 signature",
      badSignature,
      () => `${encode({ alg: "ES256", kid: "p256" })}.${encode(claims)}.${Buffer.alloc(64).toString("base64url")}`,
    ],
    ["an empty signature", "it is not a compact JWT", () => signed().replace(/[^.]+$/, "")],
    ["a signature of one byte", badSignature, () => signed().replace(/[^.]+$/, "AA")],
    [
      "a changed payload",
      badSignature,
      () => signed().replace(/\.[^.]+\./, `.${encode({ ...claims, permissions: ["*.*.*"] })}.`),
    ],
    [
      "a changed header",
      badSignature,
      () => signed().replace(/^[^.]+/, encode({ alg: "EdDSA", kid: "ed", typ: "JWT" })),
    ],
    ["two tokens joined by a comma", "it is not a compact JWT", () => `${signed()}, ${signed()}`],
    ["five parts", "it is not a compact JWT", () => `${signed()}.AA.AA`],
    ["a space in front", "it is not a compact JWT", () => ` ${signed()}`],
    ["padding", "it is not a compact JWT", () => `${signed()}=`],
    ["nothing", "it is not a compact JWT", () => ""],
    ["a header that is a list", "its header is not a JSON object", () => forged([{ alg: "EdDSA" }])],
    [
      "a header with alg given twice",
      "its header is not a JSON object",
      () => `${Buffer.from('{"alg":"none","alg":"EdDSA"}').toString("base64url")}.${encode(claims)}.AA`,
    ],
    [
      "a payload that is a list",
      "its payload is not a JSON object",
      () => forged({ alg: "EdDSA", kid: "ed" }, [claims]),
    ],
    ["malformed permissions", /^its permissions/, () => signed({ ...claims, permissions: "service.*.*" })],
    ["permissions null", /^its permissions/, () => signed({ ...claims, permissions: null })],
    ["no exp", "its exp is missing", () => signed({ ...claims, exp: undefined })],
    ["exp as text", /^its exp/, () => signed({ ...claims, exp: String(seconds + 60) })],
    [
      "exp of infinite size",
      "its payload is not a JSON object",
      () => forgedText('{"sub":"a","aud":"custody","exp":1e999}'),
    ],
    ["no sub", "its sub is missing", () => signed({ ...claims, sub: undefined })],
  ])("is refused: %s", async (_name, expected, make) => {
    const shown = await reason(await make());
    if (typeof expected === "string") expect(shown).toBe(expected);
    else expect(shown).toMatch(expected);
    expect(shown).not.toMatch(/evil|nobody|alice/);
  });

  const forgedText = (payload: string): string => {
    const input = `${encode({ alg: "EdDSA", kid: "ed" })}.${Buffer.from(payload).toString("base64url")}`;
    return withSignature(input, signBytes(null, Buffer.from(input), ed25519.privateKey));
  };

  it("is refused with an algorithm the configuration leaves out", async () => {
    verifier = verifierWith(["ES256"]);
    expect(await reason(signed())).toBe("its algorithm is not one of ES256");
  });

  it("is refused where two keys would fit", async () => {
    published = Either.right(keySet(jwkOf(ed25519.publicKey, "one"), jwkOf(stranger.publicKey, "two")));
    expect(await reason(forged({ alg: "EdDSA" }))).toMatch(/^several keys match/);
    published = Either.right(keySet(jwkOf(ed25519.publicKey, "ed"), jwkOf(stranger.publicKey, "ed")));
    verifier = verifierWith();
    expect(await reason(signed())).toMatch(/^several keys match/);
  });
});

describe("limits", () => {
  it("refuses a token of one character too many", async () => {
    // Base64 cannot make every length, so the header takes part too.
    const padded = (length: number): string => {
      for (const more of ["", "1", "12", "123"]) {
        const pad = (size: number) => signed({ ...claims, pad: "x".repeat(size) }, { more });
        const size = Math.floor(((length - pad(0).length) * 3) / 4);
        const fitting = [size - 1, size, size + 1].map(pad).find((token) => token.length === length);
        if (fitting !== undefined) return fitting;
      }
      throw new Error("no token of this length");
    };
    const longest = padded(maxTokenLength);
    expect((await accepted(longest)).sub).toBe("alice");
    expect(await reason(`${longest}A`)).toBe("it is longer than 16384 characters");
  });
});

describe("the key set", () => {
  it("costs one verification and one fetch for 64 callers with one token", async () => {
    const token = signed();
    const all = await Promise.all(Array.from({ length: 64 }, () => accepted(token)));
    expect(fetches).toBe(1);
    // The very same object: the signature was checked once.
    expect(new Set(all).size).toBe(1);
  });

  it("is asked for a token once for as long as it stays the same, whatever comes in between", async () => {
    const token = signed();
    expect(verifier.known(token)).toBeUndefined();
    const claimed = await accepted(token);
    const header = encode({ alg: "EdDSA", kid: "ed" });
    const bad = Array.from(
      { length: 1100 },
      (_, index) => `${header}.${encode({ ...claims, jti: index })}.${"A".repeat(86)}`,
    );
    for (const each of bad) expect(await reason(each)).toBe("its signature does not hold");
    expect(bad.some((each) => verifier.known(each) !== undefined)).toBe(false);
    elapsed = 600_000;
    expect(verifier.known(token)).toBe(claimed);
    expect(await accepted(token)).toBe(claimed);
    // The keys have become too old to be used.
    published = Either.left("gave no answer");
    elapsed = 86_400_000 + 600_000;
    expect(verifier.known(token)).toBeUndefined();
    expect(await reason(token)).toBe("Unavailable");
  });

  it("finds a rotated key, and stops accepting the removed one although its token was verified before", async () => {
    const before = signed();
    await accepted(before);
    published = Either.right(keySet(jwkOf(stranger.publicKey, "new")));
    const after = forged({ alg: "EdDSA", kid: "new" }, claims, stranger.privateKey);
    expect((await accepted(after)).sub).toBe("alice");
    expect(fetches).toBe(2);
    expect(verifier.known(before)).toBeUndefined();
    expect(await reason(before)).toBe("its key is not in the key set");
    expect(fetches).toBe(2);
  });

  it("is not fetched again for a bad signature", async () => {
    await reason(forged({ alg: "EdDSA", kid: "ed" }, claims, stranger.privateKey));
    expect(fetches).toBe(1);
  });

  it("is not fetched for what is no token", async () => {
    await reason("nonsense");
    await reason(forged({ alg: "none" }));
    expect(fetches).toBe(0);
  });

  it("being away is not the token's fault", async () => {
    published = Either.left("gave no answer");
    expect(await reason(signed())).toBe("Unavailable");
    elapsed = 5000;
    published = Either.right(allKeys);
    // A caller that finds no keys does not wait for the next attempt, which was begun on its behalf.
    expect(await reason(signed())).toBe("Unavailable");
    await new Promise((resolve) => void setImmediate(resolve));
    expect((await accepted(signed())).sub).toBe("alice");
  });

  it("without a token's key refuses it for certain only where the issuer was asked", async () => {
    published = Either.right(allKeys);
    await accepted(signed());
    published = Either.left("gave no answer");
    elapsed = 40_000;
    const stranger = signed(claims, { kid: "not in the set" });
    expect(await reason(stranger)).toBe("Unavailable");
    published = Either.right(allKeys);
    elapsed = 80_000;
    expect(await reason(stranger)).toBe("its key is not in the key set");
  });
});
