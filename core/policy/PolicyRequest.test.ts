import { utf8ToBytes } from "@noble/hashes/utils.js";
import { base64 } from "@scure/base";
import { ed25519 } from "@noble/curves/ed25519.js";
import { Either } from "effect";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { crypto } from "../../properties/cluster/Cluster.ts";
import { Limits } from "../base/Limits.ts";
import { installedProviders } from "../credential/SignatureProvider.ts";
import type { Policy } from "./Policy.ts";
import { readPolicy } from "./PolicyRequest.ts";

const means = { crypto, providers: installedProviders };

/** What is read, and in how many steps. */
const run = (document: unknown) => {
  const body = utf8ToBytes(typeof document === "string" ? document : JSON.stringify(document));
  const work = readPolicy(means, body);
  for (let pauses = 0; ; pauses += 1) {
    const step = work.next();
    if (step.done === true) return { read: step.value, pauses };
  }
};
const policyOf = (document: unknown): Policy =>
  Either.getOrThrowWith(run(document).read, ({ faults }) => new Error(JSON.stringify(faults)));
const faultsOf = (document: unknown): ReadonlyArray<string> => {
  const rejection = Either.getOrThrow(Either.flip(run(document).read));
  expect(rejection.code).toBe("INVALID_REQUEST_BODY");
  return rejection.faults.map(({ pointer, code }) => `${pointer} ${code}`);
};

const keyOf = (seed: number): string =>
  base64.encode(ed25519.getPublicKey(new Uint8Array(32).fill(seed % 256).fill(seed >> 8, 0, 1)));
const inline = (seed = 1) => ({ type: "SIGNATURE", algorithm: "ED25519", publicKey64: keyOf(seed) });
const pin = (seed = 0, id = "alice") => ({ ref: `${id}@sha256:${seed.toString(16).padStart(64, "0")}` });
const pins = (many: number) => Array.from({ length: many }, (_, index) => pin(index));
const fourEye = (more: object = {}) => ({ fourEye: { mode: "STRICT", m: 1, n: 2, keys: pins(2), ...more } });
const manifest = (more: object = {}) => ({
  policy: {
    id: "eu-payout",
    fallback: "ALLOW_WITH_REQUIREMENTS",
    approvers: { cfo: pin(1), ops: pin(2) },
    fallbackApprovals: { threshold: 1, approvers: ["cfo", "ops"] },
    ...more,
  },
});
const MOST = Limits.policyEntries;

describe("the policy of a key", () => {
  it("is read with its refs as they are written and its keys in normal form", () => {
    const spki = `MCowBQYDK2VwAyEA${keyOf(7)}`;
    const policy = policyOf(fourEye({ mode: "LENIENT", keys: [pin(3), { ...inline(), publicKey64: spki }] }));
    expect(policy).toMatchObject({
      _tag: "FourEye",
      fourEye: { mode: "LENIENT", m: 1, n: 2, keys: [{ _tag: "Pin", ...pin(3) }, { credential: inline(7) }] },
    });
  });

  it.each([
    [1, 1],
    [1, MOST],
    [MOST, MOST],
  ])("may ask %d of %d", (m, n) => {
    expect(policyOf(fourEye({ m, n, keys: pins(n) }))).toMatchObject({ fourEye: { m, n } });
  });

  it.each<[object, ReadonlyArray<string>]>([
    [{ m: 0 }, ["/fourEye/m wrong_type"]],
    [{ m: 3 }, ["/fourEye/m invalid_value"]],
    [{ m: 1.5 }, ["/fourEye/m wrong_type"]],
    [{ m: "1" }, ["/fourEye/m wrong_type"]],
    [{ m: MOST + 1 }, ["/fourEye/m wrong_type"]],
    [{ n: 0, keys: [] }, ["/fourEye/n wrong_type"]],
    [{ n: MOST + 1, keys: pins(MOST + 1) }, ["/fourEye/n wrong_type", "/fourEye/keys too_many"]],
    [{ n: 3 }, ["/fourEye/keys wrong_count"]],
    [{ keys: pins(1) }, ["/fourEye/keys wrong_count"]],
    [{ keys: [] }, ["/fourEye/keys wrong_count"]],
    [{ keys: {} }, ["/fourEye/keys wrong_type"]],
    [{ mode: "strict" }, ["/fourEye/mode invalid_value"]],
    [{ mode: null }, ["/fourEye/mode null_value"]],
    [{ distinct: "KEY" }, ["/fourEye/distinct unknown_field"]],
    [{ keys: [pin(), "alice"] }, ["/fourEye/keys/1 wrong_type"]],
    [{ keys: [pin(), null] }, ["/fourEye/keys/1 null_value"]],
  ])("is refused with %j", (more, faults) => {
    expect(faultsOf(fourEye(more))).toEqual(faults);
  });

  it("tells every fault at once, those of keys by their provider too", () => {
    const keys = [
      { ref: "alice" },
      { ref: pin().ref, type: "SIGNATURE" },
      { ...inline(), algorithm: "ed25519" },
      { ...inline(), publicKey64: base64.encode(new Uint8Array(32)) },
      { ...inline(), publicKey64: "?" },
      { ...inline(), type: "WEBAUTHN" },
      { algorithm: "P256" },
      pin(9),
    ];
    expect(faultsOf({ fourEye: { mode: "", n: keys.length, keys } })).toEqual([
      "/fourEye/mode invalid_value",
      "/fourEye/m missing_field",
      "/fourEye/keys/0/ref invalid_value",
      "/fourEye/keys/1/type unknown_field",
      "/fourEye/keys/5/type invalid_value",
      "/fourEye/keys/6/type missing_field",
      "/fourEye/keys/6/publicKey64 missing_field",
      "/fourEye/keys/2/algorithm unsupported_algorithm",
      "/fourEye/keys/3/publicKey64 invalid_key",
      "/fourEye/keys/4/publicKey64 invalid_base64",
    ]);
  });

  it.each([
    "alice",
    "alice@latest",
    `alice@sha256:${"A".repeat(64)}`,
    `alice@sha256:${"a".repeat(63)}`,
    `https://example.org/alice@sha256:${"a".repeat(64)}`,
    `@sha256:${"a".repeat(64)}`,
    "",
  ])("has no pin of %j", (ref) => {
    expect(faultsOf(fourEye({ keys: [pin(), { ref }] }))).toEqual(["/fourEye/keys/1/ref invalid_value"]);
  });

  it("pauses before each key that it examines, and before nothing else", () => {
    expect(run(fourEye({ keys: [inline(1), pin()] })).pauses).toBe(1);
    expect(run(fourEye({ n: 3, keys: [inline(1), inline(2), inline(3)] })).pauses).toBe(3);
    expect(run(manifest()).pauses).toBe(0);
  });

  it("may be as long as the longest keys make it, and no longer than its bytes", () => {
    const publicKey64 = base64.encode(new Uint8Array(2592).fill(1));
    const keys = Array.from({ length: MOST }, () => ({ type: "SIGNATURE", algorithm: "MLDSA87", publicKey64 }));
    const text = JSON.stringify(fourEye({ n: MOST, keys }));
    expect(text.length).toBeGreaterThan(Limits.requestBodyBytes);
    expect(policyOf(text)).toMatchObject({ fourEye: { n: MOST } });
    expect(policyOf(text.padEnd(Limits.policyBytes))).toMatchObject({ fourEye: { n: MOST } });
    expect(faultsOf(text.padEnd(Limits.policyBytes + 1))).toEqual([" too_large"]);
  });
});

describe("the policy of an authority", () => {
  it("is read, approvers that no group names too", () => {
    const approvers = { cfo: pin(1), ops: pin(2), unused: pin(3) };
    const policy = policyOf(manifest({ approvers }));
    expect(policy).toMatchObject({
      _tag: "Authority",
      policy: { id: "eu-payout", fallbackApprovals: { threshold: 1, approvers: ["cfo", "ops"] } },
    });
    expect(policy._tag === "Authority" && [...policy.policy.approvers.keys()]).toEqual(["cfo", "ops", "unused"]);
  });

  it.each(["DENY", "ALLOW"])("may fall back to %s, without approvals", (fallback) => {
    expect(policyOf(manifest({ fallback, fallbackApprovals: undefined }))).toMatchObject({ policy: { fallback } });
    expect(faultsOf(manifest({ fallback }))).toEqual(["/policy/fallbackApprovals unknown_field"]);
  });

  const approversOf = (many: number) =>
    Object.fromEntries(Array.from({ length: many }, (_, index) => [`a${index}`, pin(index)]));
  const aliasesOf = (many: number) => Object.keys(approversOf(many));
  const group = (threshold: number, approvers: ReadonlyArray<unknown>) => ({
    approvers: approversOf(MOST),
    fallbackApprovals: { threshold, approvers },
  });

  it.each([
    [1, 1],
    [1, MOST],
    [MOST, MOST],
  ])("may have a group of %d of %d", (threshold, many) => {
    const read = policyOf(manifest(group(threshold, aliasesOf(many))));
    expect(read).toMatchObject({ policy: { fallbackApprovals: { threshold } } });
  });

  const g = "/policy/fallbackApprovals";
  it.each<[string, object, ReadonlyArray<string>]>([
    ["no approval needed", group(0, ["a1"]), [`${g}/threshold wrong_type`]],
    ["a group that is never met", group(2, ["a1"]), [`${g}/threshold invalid_value`]],
    ["an empty group", group(1, []), [`${g}/approvers too_few`, `${g}/threshold invalid_value`]],
    ["an alias twice", group(1, ["a1", "a2", "a1"]), [`${g}/approvers/2 repeated`]],
    ["an unknown alias", group(1, ["a1", "b"]), [`${g}/approvers/1 unknown_alias`]],
    ["an alias that is none", group(1, ["a1", "b c"]), [`${g}/approvers/1 invalid_value`]],
    ["a ref for an alias", group(1, ["a1", pin()]), [`${g}/approvers/1 wrong_type`]],
    ["too large a group", group(1, aliasesOf(MOST).concat("a0")), [`${g}/approvers too_many`]],
    ["no group", { fallbackApprovals: undefined }, [`${g} missing_field`]],
    ["an unknown fallback", { fallback: "PERMIT" }, ["/policy/fallback invalid_value"]],
    [
      "too many approvers",
      { approvers: { ...approversOf(MOST - 1), cfo: pin(), ops: pin() } },
      ["/policy/approvers too_many"],
    ],
    [
      "a bad alias",
      { approvers: { cfo: pin(), ops: pin(), "a/b~": pin() } },
      ["/policy/approvers/a~1b~0 invalid_value"],
    ],
    [
      "an inline approver",
      { approvers: { cfo: inline(), ops: pin() } },
      [
        "/policy/approvers/cfo/type unknown_field",
        "/policy/approvers/cfo/algorithm unknown_field",
        "/policy/approvers/cfo/publicKey64 unknown_field",
        "/policy/approvers/cfo/ref missing_field",
      ],
    ],
    ["no id", { id: undefined }, ["/policy/id missing_field"]],
    ["an id in capitals", { id: "EU" }, ["/policy/id invalid_value"]],
    ["too long an id", { id: "a".repeat(Limits.policyIdCharacters + 1) }, ["/policy/id invalid_value"]],
    ["rules", { allow: [] }, ["/policy/allow unknown_field"]],
  ])("is refused with %s", (_name, more, faults) => {
    expect(faultsOf(manifest(more))).toEqual(faults);
  });

  it("takes the longest id, the longest alias and as many approvers as allowed", () => {
    const alias = "z".repeat(Limits.approverIdCharacters);
    const approvers = { ...approversOf(MOST - 1), [alias]: pin() };
    const id = "a".repeat(Limits.policyIdCharacters);
    const read = policyOf(manifest({ id, approvers, fallbackApprovals: { threshold: 1, approvers: [alias] } }));
    expect(read._tag === "Authority" && read.policy.approvers.size).toBe(MOST);
  });
});

describe("a document", () => {
  it.each<[string, string, ReadonlyArray<string>]>([
    ["no policy", "{}", ["/fourEye missing_field"]],
    ["two policies", JSON.stringify({ ...fourEye(), ...manifest() }), [" ambiguous"]],
    ["something beside the policy", JSON.stringify({ ...fourEye(), more: 1 }), ["/more unknown_field"]],
    ["no object", "[]", [" wrong_type"]],
    ["a null", '{"fourEye":null}', ["/fourEye null_value"]],
    ["a key twice", '{"fourEye":{"m":1,"m":1}}', ["/fourEye/m duplicate_key"]],
    ["an alias twice", '{"policy":{"approvers":{"a":{},"\\u0061":{}}}}', ["/policy/approvers/a duplicate_key"]],
    ["trailing text", `${JSON.stringify(fourEye())}x`, [" trailing_bytes"]],
    ["nothing", "", [" unexpected_end"]],
  ])("of %s is refused", (_name, text, faults) => {
    expect(faultsOf(text)).toEqual(faults);
  });

  it("is read or refused, whatever it is", () => {
    const numbers = fc.oneof(fc.integer({ min: -1, max: 5 }), fc.double(), fc.constant(null));
    const entry = fc.oneof(
      fc.nat({ max: 5 }).map((seed) => pin(seed)),
      fc.nat({ max: 5 }).map((seed) => inline(seed)),
      fc.anything(),
    );
    const document = fc.record({
      fourEye: fc.record({
        mode: fc.constantFrom("STRICT", ""),
        m: numbers,
        n: numbers,
        keys: fc.array(entry, { maxLength: 4 }),
      }),
    });
    fc.assert(
      fc.property(document, (each) => {
        const { read } = run(JSON.stringify(each));
        if (Either.isLeft(read)) return read.left.faults.length > 0;
        const { fourEye: got } = each;
        return (
          got.mode === "STRICT" && got.keys.length === got.n && Number(got.m) >= 1 && Number(got.m) <= got.keys.length
        );
      }),
    );
  });
});
