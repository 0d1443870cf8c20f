import { Either } from "effect";
import { describe, expect, it } from "vitest";
import { crypto, founded } from "../../../properties/cluster/Cluster.ts";
import { posted } from "../../../properties/cluster/Enrolling.ts";
import { openStep } from "../../../properties/cluster/OpenStep.ts";
import { KEYS_PATH, keyPath } from "../keys/KeyId.ts";
import type { Settings } from "../../protocol/Event.ts";
import type { Suite } from "../../threshold/Suite.ts";
import { isMaking, makingOf, makingPermissions } from "./Making.ts";
import { readMaking, standing } from "./MakingStanding.ts";

const body = { keyId: "k1", algorithm: "ED25519", authorities: [{ id: "arbitrary" }] };
const [three, alone] = [openStep(founded(), 1), openStep(founded(1), 1)];
const [eddsa] = three.context.keyCrypto.suites;
if (eddsa === undefined) throw new Error("no suite is installed");
/** A suite that no shares sign for. */
const ecdsa: Suite = { ...eddsa, algorithm: "P256", scheme: "ECDSA", shared: undefined };
const suites = [eddsa, ecdsa];

const making = (asked: object, change: Partial<Settings> = {}, at = three) => {
  const { membership } = at;
  const settings = { ...at.context.settings, ...change };
  const context = { ...at.context, settings, keyCrypto: { ...at.context.keyCrypto, suites } };
  return readMaking({ context, membership }, posted(KEYS_PATH, { ...body, ...asked }));
};

const read = (...asked: Parameters<typeof making>): string =>
  Either.match(making(...asked), {
    onLeft: ({ code, faults }) => [code, ...faults.map(({ pointer }) => pointer)].join(" "),
    onRight: ({ scheme = "" }) => scheme,
  });

describe("a request for a key", () => {
  it("is posted to the path of keys, or of one key's rotation or refresh", () => {
    const at = (path: string, method = "POST") => isMaking({ ...posted(path, body), method });
    expect([KEYS_PATH, keyPath("k1", "rotate"), keyPath("k1", "refresh")].map((path) => at(path))).toEqual([
      true,
      true,
      true,
    ]);
    expect([at(KEYS_PATH, "PUT"), at(`${KEYS_PATH}/`), at(keyPath("k1", "sign")), at(keyPath("K1", "rotate"))]).toEqual(
      [false, false, false, false],
    );
  });

  it("needs the permission for all keys, or for the one that it names", () => {
    const needed = (path: string) => makingPermissions(posted(path, {}));
    expect(needed(KEYS_PATH)).toEqual(["service.dkg.create"]);
    expect(needed(keyPath("k1", "rotate"))).toEqual(["service.dkg.rotate", "service.key.k1.rotate"]);
    expect(needed(keyPath("k1", "refresh"))).toEqual(["service.dkg.refresh", "service.key.k1.refresh"]);
  });

  it.each([
    ["the first scheme of its algorithm by default", {}, "EdDSA"],
    ["the scheme that it names", { scheme: "EdDSA" }, "EdDSA"],
    ["no scheme of another algorithm", { scheme: "ECDSA" }, "INVALID_REQUEST_BODY /scheme"],
    ["no algorithm that is not installed", { algorithm: "RSA" }, "UNSUPPORTED_ALGORITHM /algorithm"],
    ["no key that shares cannot sign with", { algorithm: "P256" }, "SCHEME_NOT_THRESHOLD /algorithm"],
    ["no such scheme", { algorithm: "P256", scheme: "ECDSA" }, "SCHEME_NOT_THRESHOLD /scheme"],
    ["no field that nobody knows", { policy: {} }, "INVALID_REQUEST_BODY /policy"],
    ["no authority but the one there is", { authorities: [{ id: "eu" }] }, "INVALID_REQUEST_BODY /authorities/0/id"],
    ["no id in capitals", { keyId: "K1" }, "INVALID_REQUEST_BODY /keyId"],
  ])("means %s", (_what, asked, expected) => {
    expect(read(asked)).toBe(expected);
  });

  it("may mean a key that is not shared where a peer is alone", () => {
    expect(read({ algorithm: "P256" }, {}, alone)).toBe("ECDSA");
  });

  it("is told which algorithms there are for as many peers", () => {
    const hintAt = (at: typeof three) =>
      Either.match(making({ algorithm: "RSA" }, {}, at), { onLeft: ({ hint }) => hint, onRight: () => "" });
    expect([hintAt(three), hintAt(alone)]).toEqual([
      "Use one of ED25519; names are case-sensitive.",
      "Use one of ED25519, P256; names are case-sensitive.",
    ]);
  });

  it("attaches no authority that the configuration forbids", () => {
    expect(read({}, { arbitrary: false })).toBe("INVALID_REQUEST_BODY /authorities/0/id");
  });

  it("is named by its bytes: another call is another request, another caller's is the same", () => {
    const digestOf = (asked: object) =>
      Either.getOrThrow(makingOf(posted(KEYS_PATH, { ...body, ...asked }), crypto)).requestDigest;
    expect(digestOf({})).toBe(digestOf({}));
    expect(digestOf({})).not.toBe(digestOf({ assetOwner: "somebody" }));
  });
});

describe("a renewal's standing", () => {
  it("of a key that is not there is impossible, for now", () => {
    const call = posted(keyPath("k1", "rotate"), { baseGeneration: 1 });
    expect(standing(three, Either.getOrThrow(readMaking(three, call)))).toMatchObject({
      _tag: "Impossible",
      isFinal: false,
      rejection: { code: "KEY_NOT_FOUND" },
    });
  });

  it("of a new key waits for what is made for it", () => {
    expect(standing(three, Either.getOrThrow(readMaking(three, posted(KEYS_PATH, body))))._tag).toBe("NotYet");
  });
});
