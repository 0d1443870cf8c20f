import { changed } from "../../properties/cluster/Changed.ts";
import type { StateFields } from "./StateFields.ts";
import { readFileSync, writeFileSync } from "node:fs";
import { env } from "node:process";
import { describe, expect, it } from "vitest";
import { founded } from "../../properties/cluster/Cluster.ts";
import { openStep } from "../../properties/cluster/OpenStep.ts";
import { commands } from "../commands/Commands.ts";
import type { Event } from "./Event.ts";
import { takeStep } from "../Peer.ts";
import { type Mode, mayBecome, meanings, modeOf, modes } from "./Mode.ts";
import { eventHandling, eventRows, type Handling, messageRows, timerRows } from "./ModeTable.ts";
import { draftOf } from "../../properties/cluster/Promoting.ts";
import { noPromotion } from "./PromotionState.ts";
import { freshRecovery } from "./TakingOver.ts";

const page = new URL("../../docs/protocol.md", import.meta.url);
const BEGIN = "<!-- modes:begin -->\n";
const END = "<!-- modes:end -->";

const signs: Readonly<Record<Handling, string>> = { runs: "●", refuses: "no", drops: "" };

const rowsOf = (kind: string, rows: { readonly [name: string]: ReadonlyArray<Handling> }): ReadonlyArray<string> =>
  Object.entries(rows).map(([name, row]) => `|${kind}\`${name}\`|${row.map((each) => signs[each]).join("|")}|`);

/** The same of what modules handle, which names the modes that it runs in. */
const moduleRows = (
  handlers: ReadonlyArray<{ readonly [name: string]: { readonly modes: ReadonlySet<Mode> } }>,
): { readonly [name: string]: ReadonlyArray<Handling> } =>
  Object.fromEntries(
    handlers.flatMap((each) =>
      Object.entries(each).map(([name, handler]) => [
        name,
        modes.map((mode): Handling => (handler.modes.has(mode) ? "runs" : "drops")),
      ]),
    ),
  );

/** The block of docs/protocol.md between its markers. */
const printed = (): string =>
  [
    "|Mode||May become|",
    "|---|---|---|",
    ...modes.map((mode) => `|${mode}|${meanings[mode]}|${[...mayBecome[mode]].join(", ")}|`),
    "",
    "`●` handled, `no` answered with a refusal, empty: passed over.",
    "",
    `||${modes.join("|")}|`,
    `|---|${"---|".repeat(modes.length)}`,
    ...rowsOf("", messageRows),
    ...rowsOf("", moduleRows(commands.modules.map(({ messages }) => messages))),
    ...rowsOf("timer ", timerRows),
    ...rowsOf("timer ", moduleRows(commands.modules.map(({ timers }) => timers))),
    ...rowsOf("event ", eventRows),
    "",
  ].join("\n");

const sound = openStep(founded(), 2);
const standing: Readonly<Record<Mode, Partial<StateFields>>> = {
  blank: { peer: undefined, unsealed: false },
  sealed: { unsealed: false },
  verifying: { unsealed: false, verifying: true },
  founding: { membership: undefined },
  damaged: { integrityFault: "the test" },
  quarantined: { quarantine: "the test" },
  announcing: { recovery: freshRecovery("the test"), unproven: new Set([3]) },
  recovering: { recovery: freshRecovery("the test") },
  joining: { unproven: new Set([3]) },
  active: {},
  promoting: { promotion: { ...noPromotion(), own: draftOf("DECIDED") } },
};

const requestId = "asked";
const key = sound.state.cluster.peer?.integrityKey;
if (key === undefined) throw new Error("it is initialized");
const blob = new Uint8Array(8);
const asked: ReadonlyArray<Extract<Event, { readonly requestId: string }>> = [
  { _tag: "DeclareRestore", requestId },
  { _tag: "Rekey", requestId, vault: blob },
  { _tag: "RotateIntegrity", requestId, publicKey: key, blob },
  { _tag: "Operated", requestId, acts: [] },
  {
    _tag: "Promote",
    requestId,
    plan: { members: [], threshold: 2 },
    actor: { _tag: "Unavailable" },
    dryRun: false,
  },
  {
    _tag: "Initialize",
    requestId,
    peerId: 7,
    threshold: 2,
    total: 2,
    identityKey: key,
    integrityKey: key,
    vault: blob,
  },
  {
    _tag: "Command",
    requestId,
    call: { method: "GET", path: "/", rawBody: blob, ifMatch: undefined },
    token: "",
    actor: { _tag: "Unavailable" },
  },
];

describe("the table of modes", () => {
  it("stands in docs/protocol.md (PRINT_MODES=1 npx vitest run core/protocol/ModeTable.test.ts)", () => {
    const text = readFileSync(page, "utf8");
    const [before = "", rest = ""] = text.split(BEGIN);
    const [block, after] = rest.split(END);
    if (env["PRINT_MODES"] !== undefined) writeFileSync(page, before + BEGIN + printed() + END + after);
    else expect(block).toBe(printed());
  });

  it.each(
    asked.flatMap((event) =>
      modes
        .filter((mode) => eventHandling[event._tag][mode] === "refuses")
        .map((mode) => [event._tag, mode, event] as const),
    ),
  )("has %s refused by a peer that is %s, as it says", (tag, mode, event) => {
    const state = changed(sound.state, standing[mode]);
    expect(modeOf(state)).toBe(mode);
    const { writes, thenSend } = takeStep(state, event, sound.context);
    expect(writes).toEqual([]);
    expect(thenSend).toMatchObject([
      { requestId, answer: tag === "Operated" ? { _tag: "Audited", done: false } : { _tag: "Rejected" } },
    ]);
  });
});
