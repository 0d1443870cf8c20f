/** Requests about keys at the edge of what may be asked, and beyond it (contract 2.8; docs/api.md). */
import type { RejectionCode } from "../../core/base/Rejection.ts";
import { utf8Bytes } from "../../core/codec/Utf8.ts";
import type { Asked } from "./Asked.ts";
import type { Commands } from "./Commands.ts";
import { creation, isKeyEnding, isKeyMaking, isRepairing, isSigning, type KeyRequest } from "./KeyRequests.ts";
import type { Rule } from "./Rules.ts";

const LONGEST_ID = 100;

interface Body {
  readonly [name: string]: unknown;
}

const isCreation = (asked: KeyRequest): boolean => isKeyMaking(asked) && asked.act === "create";
const hasBase = (asked: KeyRequest): boolean => (isKeyMaking(asked) && !isCreation(asked)) || isKeyEnding(asked);

type Breach = readonly [
  rule: Rule,
  how: string,
  refusedAs: RejectionCode,
  /** Undefined where this kind of request cannot break the rule so. */
  of: (body: Body, asked: KeyRequest) => Body | string | undefined,
];

const ofCreation =
  (more: Body): Breach[3] =>
  (body, asked) =>
    isCreation(asked) ? { ...body, ...more } : undefined;

const withId = (how: string, keyId: string): Breach => ["2.8 key", how, "INVALID_REQUEST_BODY", ofCreation({ keyId })];

const onBase = (how: string, baseGeneration: unknown): Breach => [
  "10.7 base",
  how,
  "INVALID_REQUEST_BODY",
  (body, asked) => (hasBase(asked) ? { ...body, baseGeneration } : undefined),
];

const ofArtifact =
  (more: Body): Breach[3] =>
  (body, asked) => {
    if (!isSigning(asked)) return undefined;
    const command = body["command"] as Body;
    return { ...body, command: { ...command, artifact: { ...(command["artifact"] as Body), ...more } } };
  };

const ofCommand =
  (more: Body): Breach[3] =>
  (body, asked) =>
    isSigning(asked) ? { ...body, command: { ...(body["command"] as Body), ...more } } : undefined;

const breaches: ReadonlyArray<Breach> = [
  withId("no character", ""),
  withId("101 characters", "k".repeat(LONGEST_ID + 1)),
  withId("a capital letter", "Key"),
  withId("two dashes", "a--b"),
  withId("a dash behind it", "a-"),
  withId("a colon", "a:b"),
  ["2.8 algorithm", "none that is installed", "UNSUPPORTED_ALGORITHM", ofCreation({ algorithm: "RSA", scheme: "PSS" })],
  ["2.8 authorities", "none", "INVALID_REQUEST_BODY", ofCreation({ authorities: [] })],
  ["2.8 authorities", "another", "INVALID_REQUEST_BODY", ofCreation({ authorities: [{ id: "custom" }] })],
  [
    "2.8 authorities",
    "twice",
    "INVALID_REQUEST_BODY",
    ofCreation({ authorities: [{ id: "arbitrary" }, { id: "arbitrary" }] }),
  ],
  onBase("zero", 0),
  onBase("65536", 65_536),
  onBase("a text", "1"),
  [
    "10.7 base",
    "none",
    "INVALID_REQUEST_BODY",
    (body, asked) => {
      if (!hasBase(asked)) return undefined;
      const { baseGeneration: _left, ...rest } = body;
      return rest;
    },
  ],
  [
    "10.7 destruction",
    "final: false",
    "INVALID_REQUEST_BODY",
    (body, asked) => (isKeyEnding(asked) ? { ...body, final: false } : undefined),
  ],
  ["2.8 command", "data in another form of Base64", "INVALID_REQUEST_BODY", ofArtifact({ data64: "AB==" })],
  ["2.8 command", "no hash of these", "INVALID_REQUEST_BODY", ofArtifact({ hash: "MD5" })],
  ["2.8 command", "another authority", "INVALID_REQUEST_BODY", ofCommand({ authorityId: "custom" })],
  ["2.8 command", "another type", "INVALID_REQUEST_BODY", ofCommand({ type: "custom" })],
  [
    "10.5 helpers",
    "none",
    "INVALID_REQUEST_BODY",
    (body, asked) => (isRepairing(asked) ? { ...body, helpers: [] } : undefined),
  ],
  ["4.1.2 body", "an unknown field", "INVALID_REQUEST_BODY", (body) => ({ ...body, more: 1 })],
  [
    "4.1.2 body",
    "null",
    "INVALID_REQUEST_BODY",
    (body, asked) => (isKeyMaking(asked) ? { ...body, assetOwner: null } : undefined),
  ],
  ["4.1.2 body", "more behind it", "INVALID_REQUEST_BODY", (body) => `${JSON.stringify(body)}{}`],
];

type Keep = readonly [rule: Rule, how: string, idOf: (keyId: string) => string];

const keeps: ReadonlyArray<Keep> = [
  ["2.8 key", "100 characters", (keyId) => keyId.padEnd(LONGEST_ID, "k")],
  ["2.8 key", "all kinds of characters", (keyId) => `0_${keyId}-z`],
];

export const keyEdgeNames: ReadonlyArray<string> = [...keeps, ...breaches].map(([rule, how]) => `${rule}: ${how}`);

/** The request at an edge, by its name; undefined where requests of its kind have no such edge. */
export const atKeyEdge = (commands: Commands, asked: KeyRequest, name: string): Asked | undefined => {
  const index = keyEdgeNames.indexOf(name);
  const keep = keeps[index];
  if (keep !== undefined) {
    const [rule, how, idOf] = keep;
    if (!isKeyMaking(asked) || asked.act !== "create") return undefined;
    return { ...creation(commands, idOf(asked.keyId), asked), edge: { rule, how } };
  }
  const breach = breaches[index - keeps.length];
  if (breach === undefined) return undefined;
  const [rule, how, refusedAs, of] = breach;
  const broken = of(JSON.parse(new TextDecoder().decode(asked.call.rawBody)) as Body, asked);
  if (broken === undefined) return undefined;
  const rawBody = utf8Bytes(typeof broken === "string" ? broken : JSON.stringify(broken));
  return { ...asked, call: { ...asked.call, rawBody }, edge: { rule, how, refusedAs } };
};
