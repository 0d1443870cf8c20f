/** Requests at the edge of a rule: exactly as large as may be, larger by one, and bodies that are not what they must be. */
import type { RejectionCode } from "../../core/base/Rejection.ts";
import type { Asked } from "./Asked.ts";
import { bodyOf, LONGEST_BODY, padded } from "./Bodies.ts";
import { type Commands, isCommand, isReplacement, type Replacement } from "./Commands.ts";
import { isInvite } from "./EnrollmentRequests.ts";
import { type Extreme, labelsOf } from "./Labels.ts";
import { metadataPath } from "./Paths.ts";
import { malformedRefs, refAs } from "./RefForms.ts";
import type { Rule } from "./Rules.ts";

const LONGEST_ID = 128;
const TOO_LONG = "one byte more";

/** A request with another id, or of another team, as far as it says either. */
const withId = (commands: Commands, asked: Asked, idOf: (id: string) => string): Asked | undefined => {
  if (isCommand(asked)) return commands.command(idOf(asked.id), asked.key, asked.team);
  return isInvite(asked) ? commands.enrollment.invite(idOf(asked.id), asked.team) : undefined;
};

const ofTeam = (commands: Commands, asked: Asked, team: Extreme): Asked | undefined => {
  if (isCommand(asked)) return commands.command(asked.id, asked.key, team);
  if (isReplacement(asked)) return commands.replacement(asked.ref, asked.ifMatch, team);
  return isInvite(asked) ? commands.enrollment.invite(asked.id, team) : undefined;
};

type Keep = readonly [rule: Rule, how: string, of: (commands: Commands, asked: Asked) => Asked | undefined];

const keepsMetadata = (rule: Rule, ...teams: ReadonlyArray<Extreme>): ReadonlyArray<Keep> =>
  teams.map((team) => [rule, team, (commands, asked) => ofTeam(commands, asked, team)]);

const keeps: ReadonlyArray<Keep> = [
  ["2.1 id", "128 characters", (commands, asked) => withId(commands, asked, (id) => id.padEnd(LONGEST_ID, "-"))],
  ["2.1 id", "one character", (commands, asked) => withId(commands, asked, () => "Z")],
  ["2.1 id", "all kinds of characters", (commands, asked) => withId(commands, asked, (id) => `0._-${id}`)],
  ...keepsMetadata("2.4 pairs", "32 pairs"),
  ...keepsMetadata("2.4 key", "a key of 64 bytes", "a key of 1 byte", "keys of any script"),
  ...keepsMetadata("2.4 value", "a value of 512 bytes", "an empty value"),
  ...keepsMetadata("2.4 total", "16 KiB"),
  [
    "8 body",
    "the greatest length",
    (commands, asked) => commands.reworded(asked, padded(asked.call.rawBody, LONGEST_BODY)),
  ],
];

/** A body as JSON has it. */
interface Body {
  readonly [name: string]: unknown;
}

/** What becomes of a body; undefined where this kind of request cannot break the rule so. */
type Breaking = (body: Body, text: string) => Body | string | undefined;

type Breach = readonly [rule: Rule, how: string, refusedAs: RejectionCode, of: Breaking];

const withMember =
  (name: string, valueOf: (value: unknown) => unknown): Breaking =>
  (body) =>
    name in body ? { ...body, [name]: valueOf(body[name]) } : undefined;

const withCredential = (more: Body): Breaking => withMember("credential", (value) => ({ ...(value as Body), ...more }));

/** The same of a registration alone. */
const withKey =
  (more: Body): Breaking =>
  (body, text) =>
    "id" in body ? withCredential(more)(body, text) : undefined;

const breaksId = (how: string, idOf: (id: string) => string): Breach => [
  "2.1 id",
  how,
  "INVALID_REQUEST_BODY",
  withMember("id", (id) => idOf(String(id))),
];

const breaksMetadata = (rule: Rule, team: Extreme): Breach => [
  rule,
  team,
  "INVALID_METADATA",
  withMember("metadata", () => Object.fromEntries(labelsOf(team))),
];

const breaksBody = (how: string, of: Breaking): Breach => ["4.1.2 body", how, "INVALID_REQUEST_BODY", of];

const breaches: ReadonlyArray<Breach> = [
  breaksId("129 characters", (id) => id.padEnd(LONGEST_ID + 1, "-")),
  breaksId("no character", () => ""),
  breaksId("a dot before it", (id) => `.${id}`),
  breaksId("a character of another script", (id) => `${id}é`),
  breaksMetadata("2.4 pairs", "33 pairs"),
  breaksMetadata("2.4 key", "a key of 65 bytes"),
  breaksMetadata("2.4 key", "an empty key"),
  breaksMetadata("2.4 value", "a value of 513 bytes"),
  breaksMetadata("2.4 total", "16 KiB and a byte"),
  breaksBody("an unknown field", (body) => ({ ...body, more: 1 })),
  breaksBody("a field twice", (_body, text) => text.replace(/"\w+":/, (name) => `${name}"x",${name}`)),
  breaksBody(
    "null",
    withMember("metadata", () => null),
  ),
  breaksBody(
    "a value that is no string",
    withMember("metadata", () => ({ team: 1 })),
  ),
  breaksBody("more behind it", (_body, text) => `${text}{}`),
  ["4.1.3 key", "no key", "INVALID_PUBLIC_KEY", withKey({ publicKey64: "AAAA" })],
  ["4.1.3 key", "no algorithm", "UNSUPPORTED_ALGORITHM", withKey({ algorithm: "RSA" })],
  [
    "4.1 extension",
    "an extension that nobody requested",
    "INVALID_CEREMONY",
    (body, text) =>
      "invitation" in body ? withCredential({ clientExtensionResults: { more: true } })(body, text) : undefined,
  ],
  ["8 body", TOO_LONG, "INVALID_REQUEST_BODY", (_body, text) => text],
];

/** Paths that name no version. */
const misdirected: ReadonlyArray<readonly [rule: Rule, how: string]> = malformedRefs.map((how) => ["2.2 ref", how]);

/** The names of all edges, those that keep a rule first. */
export const edgeNames: ReadonlyArray<string> = [...keeps, ...breaches, ...misdirected].map(
  ([rule, how]) => `${rule}: ${how}`,
);

/** How often each of these is drawn, beside the others: bodies of the greatest length cost most. */
export const edgeWeights: ReadonlyArray<number> = edgeNames.map((name) =>
  name.startsWith("8 ") ? 2 : name.startsWith("2.2 ") ? 1 : 4,
);

const withoutRef = (asked: Replacement, rule: Rule, how: string): Asked => {
  const path = metadataPath(refAs(asked.ref, how).text);
  return { ...asked, call: { ...asked.call, path }, edge: { rule, how, refusedAs: "INVALID_REF" } };
};

/** The request at an edge, by its name; undefined where requests of its kind have no such edge. */
export const atEdge = (commands: Commands, asked: Asked, name: string): Asked | undefined => {
  const index = edgeNames.indexOf(name);
  const keep = keeps[index];
  if (keep !== undefined) {
    const [rule, how, of] = keep;
    const other = of(commands, asked);
    return other && { ...other, edge: { rule, how } };
  }
  const path = misdirected[index - keeps.length - breaches.length];
  if (path !== undefined) return isReplacement(asked) ? withoutRef(asked, ...path) : undefined;
  const breach = breaches[index - keeps.length];
  if (breach === undefined) return undefined;
  const [rule, how, refusedAs, of] = breach;
  const text = new TextDecoder().decode(asked.call.rawBody);
  const broken = of(JSON.parse(text) as Body, text);
  if (broken === undefined) return undefined;
  const isTooLong = how === TOO_LONG;
  const rawBody = bodyOf(
    typeof broken === "string" ? broken : JSON.stringify(broken),
    isTooLong ? LONGEST_BODY + 1 : 0,
  );
  return { ...asked, call: { ...asked.call, rawBody }, edge: { rule, how, refusedAs } };
};
