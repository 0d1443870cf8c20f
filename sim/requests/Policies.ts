/** Policies as callers write and mean them (contract 2.6), and at the edges of what a policy may be. */
import { utf8Bytes } from "../../core/codec/Utf8.ts";
import { bodyOf } from "./Bodies.ts";
import type { Rule } from "./Rules.ts";

/** A JSON value whose records name their members in any order. */
type Json = string | number | ReadonlyArray<Json> | { readonly [name: string]: Json };
interface Members {
  readonly [name: string]: Json;
}

/** Somebody who approves: by the ref of a version, or by a key in the policy itself. */
export type Approver =
  | { readonly ref: string; readonly keyName: string }
  | {
      readonly algorithm: string;
      readonly submitted64: string;
      readonly normal64: string;
      readonly keyName: string;
    };

/** An approver where it stands. */
export interface PolicyEntry {
  /** RFC 6901. */
  readonly pointer: string;
  readonly approver: Approver;
}

export interface PolicyMeant {
  readonly entries: ReadonlyArray<PolicyEntry>;
  readonly body: Uint8Array;
  /** What is digested, its members in order. */
  readonly canonical: string;
  readonly edge?: PolicyEdge;
}

/** How a policy stands to the rule. */
interface PolicyEdge {
  readonly rule: Rule;
  readonly how: string;
  readonly isBroken: boolean;
}

const RULE: Rule = "2.6 policy";
const MOST_ENTRIES = 256;
const MOST_CHARACTERS = 128;
const MOST_BYTES = 2 * 1024 * 1024;
const TOO_LONG = "one byte more than may be";

const isRecord = (value: Json): value is Members => typeof value === "object" && !Array.isArray(value);

/** Members in the order of their names, no space between. */
const canonical = (value: Json): string => {
  if (isRecord(value))
    return `{${Object.entries(value)
      .toSorted(([left], [right]) => (left < right ? -1 : 1))
      .map(([name, each]) => `${JSON.stringify(name)}:${canonical(each)}`)
      .join(",")}}`;
  return typeof value === "object" ? `[${value.map(canonical).join(",")}]` : JSON.stringify(value);
};

const written = (approver: Approver, isNormal: boolean): Members => {
  if ("ref" in approver) return { ref: approver.ref };
  const { algorithm, submitted64, normal64 } = approver;
  return { type: "SIGNATURE", algorithm, publicKey64: isNormal ? normal64 : submitted64 };
};

const meaning = (
  entries: ReadonlyArray<PolicyEntry>,
  documentOf: (isNormal: boolean) => Members,
  edge?: PolicyEdge,
): PolicyMeant => ({
  entries,
  body: utf8Bytes(JSON.stringify(documentOf(false))),
  canonical: canonical({ ...documentOf(true), version: 1 }),
  ...(edge === undefined ? {} : { edge }),
});

/** The policy of a key: `m` of these. */
export const fourEye = (approvers: ReadonlyArray<Approver>, m: number, mode: string): PolicyMeant =>
  meaning(
    approvers.map((approver, index) => ({ pointer: `/fourEye/keys/${index}`, approver })),
    (isNormal) => ({
      fourEye: { mode, m, n: approvers.length, keys: approvers.map((each) => written(each, isNormal)) },
    }),
  );

/** The policy of an authority, every approver in the group that its fallback asks, if it asks one. */
export const authority = (
  approvers: ReadonlyArray<Approver>,
  threshold: number,
  fallback: string,
  aliasOf = (index: number): string => `z${index}`,
): PolicyMeant =>
  meaning(
    approvers.map((approver, index) => ({ pointer: `/policy/approvers/${aliasOf(index)}`, approver })),
    (isNormal) => ({
      policy: {
        id: "eu-payout",
        fallback,
        approvers: Object.fromEntries(approvers.map((each, index) => [aliasOf(index), written(each, isNormal)])),
        ...(fallback === "ALLOW_WITH_REQUIREMENTS"
          ? { fallbackApprovals: { threshold, approvers: approvers.map((_each, index) => aliasOf(index)) } }
          : {}),
      },
    }),
  );

/** So many versions that nobody has registered. */
const strangers = (count: number): ReadonlyArray<Approver> =>
  Array.from({ length: count }, (_, index) => {
    const ref = `stranger-${index}@sha256:${index.toString(16).padStart(64, "0")}`;
    return { ref, keyName: ref };
  });

const GROUP = "ALLOW_WITH_REQUIREMENTS";

const keeps: ReadonlyArray<readonly [how: string, of: () => PolicyMeant]> = [
  ["one of one", () => fourEye(strangers(1), 1, "STRICT")],
  ["all of as many keys as may be", () => fourEye(strangers(MOST_ENTRIES), MOST_ENTRIES, "STRICT")],
  ["as many approvers as may be", () => authority(strangers(MOST_ENTRIES), MOST_ENTRIES, GROUP)],
  ["an alias of 128 characters", () => authority(strangers(1), 1, GROUP, () => "a".repeat(MOST_CHARACTERS))],
  [
    "the greatest length",
    () => {
      const policy = authority(strangers(2), 1, "DENY");
      return { ...policy, body: bodyOf(new TextDecoder().decode(policy.body), MOST_BYTES) };
    },
  ],
];

const pins = (count: number): ReadonlyArray<Json> => strangers(count).map((each) => written(each, true));
const ofKey = (more: Members): string =>
  JSON.stringify({ fourEye: { mode: "STRICT", m: 1, n: 2, keys: pins(2), ...more } });
const ofAuthority = (more: Members): string =>
  JSON.stringify({ policy: { id: "eu-payout", fallback: "DENY", approvers: { a: pins(1)[0] ?? "" }, ...more } });
const group = (threshold: number, ...approvers: ReadonlyArray<string>): Members => ({
  fallback: GROUP,
  fallbackApprovals: { threshold, approvers },
});
const [aRef = ""] = strangers(1).flatMap((each) => ("ref" in each ? [each.ref] : []));

const breaks: ReadonlyArray<readonly [how: string, text: string]> = [
  ["none of two", ofKey({ m: 0 })],
  ["three of two", ofKey({ m: 3 })],
  ["no keys", ofKey({ n: 0, m: 0, keys: [] })],
  ["one key less than it says", ofKey({ n: 3 })],
  ["one key more than may be", ofKey({ n: MOST_ENTRIES + 1, keys: pins(MOST_ENTRIES + 1) })],
  ["another mode", ofKey({ mode: "strict" })],
  ["a pin without a hash", ofKey({ keys: [...pins(1), { ref: "stranger-1" }] })],
  ["a pin with a shorter hash", ofKey({ keys: [...pins(1), { ref: aRef.slice(0, -1) }] })],
  ["a passkey in the policy", ofKey({ keys: [...pins(1), { type: "WEBAUTHN", credentialId: "AAAA" }] })],
  ["a key that is none", ofKey({ keys: [...pins(1), { type: "SIGNATURE", algorithm: "P256", publicKey64: "AAAA" }] })],
  ["an unknown field", ofKey({ more: 1 })],
  ["an alias of 129 characters", ofAuthority({ approvers: { ["a".repeat(MOST_CHARACTERS + 1)]: pins(1)[0] ?? "" } })],
  ["an id in capitals", ofAuthority({ id: "EU" })],
  ["an id of 129 characters", ofAuthority({ id: "a".repeat(MOST_CHARACTERS + 1) })],
  ["a group that is never met", ofAuthority(group(2, "a"))],
  ["an empty group", ofAuthority(group(1))],
  ["an alias twice in a group", ofAuthority(group(1, "a", "a"))],
  ["an alias of nobody in a group", ofAuthority(group(1, "b"))],
  ["a group that nobody asks", ofAuthority({ ...group(1, "a"), fallback: "DENY" })],
  ["no group where one is asked", ofAuthority({ fallback: GROUP })],
  ["no policy", "{}"],
  ["two policies", `${ofKey({}).slice(0, -1)},${ofAuthority({}).slice(1)}`],
  ["more behind it", `${ofKey({})}{}`],
  [TOO_LONG, ofKey({})],
];

/** The names of all edges, those that keep the rule first. */
export const policyEdgeNames: ReadonlyArray<string> = [...keeps.map(([how]) => how), ...breaks.map(([how]) => how)];

/** How often each of these is drawn, beside the others: those of the greatest length cost most. */
export const policyEdgeWeights: ReadonlyArray<number> = policyEdgeNames.map((name) =>
  name === "the greatest length" || name === TOO_LONG ? 1 : 4,
);

/** The policy at an edge, by its name; undefined where there is none. */
export const policyAtEdge = (name: string): PolicyMeant | undefined => {
  const keep = keeps.find(([how]) => how === name);
  if (keep !== undefined) return { ...keep[1](), edge: { rule: RULE, how: name, isBroken: false } };
  const breach = breaks.find(([how]) => how === name);
  if (breach === undefined) return undefined;
  const body = bodyOf(breach[1], name === TOO_LONG ? MOST_BYTES + 1 : 0);
  return { entries: [], body, canonical: "", edge: { rule: RULE, how: name, isBroken: true } };
};
