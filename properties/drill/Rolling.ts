/** Peers stopped and started again one after the other while callers go on; nothing that was acknowledged is lost. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Either } from "effect";
import { versionOf } from "../../core/codec/CborReader.ts";
import { NEWEST } from "../../core/codec/Versioned.ts";
import { VERSIONS } from "../../core/protocol/Versions.ts";
import { FAR, farProgram, NEXT, nextProgram } from "./LaterProgram.ts";
import { Load } from "./Load.ts";
import { Machines } from "./Machines.ts";
import type { Installed } from "./Package.ts";
import { must, until } from "./Programs.ts";

type Say = (line: string) => void;

const seconds = (since: number): string => `${((performance.now() - since) / 1_000).toFixed(1)} s`;

/** What callers must come to before and after each peer's stop, and while it is away. */
const BETWEEN = { registered: 8, replaced: 8, reads: 8, lists: 8 };
const AWAY = { reads: 10, lists: 10, refused: 3 };

/** Takes each peer in turn from what it runs to what it shall run, and looks at the cluster after each. */
const roll = async (
  machines: Machines,
  load: Load,
  to: Pick<Installed, "program">,
  { say, after }: { readonly say: Say; readonly after: (moved: ReadonlyArray<number>) => Promise<void> },
): Promise<void> => {
  const moved: Array<number> = [];
  // The writer last, and not in the order of their numbers.
  for (const id of machines.ids.toReversed()) {
    await load.more(BETWEEN);
    const began = performance.now();
    await machines.stop(id);
    await load.more(AWAY);
    await machines.start(id, to);
    await machines.unseal(id);
    await machines.ready(...machines.ids);
    await load.more(BETWEEN);
    moved.push(id);
    say(`peer ${id} was away, ready again, and callers went on: ${seconds(began)}`);
    await after(moved);
  }
};

/** Ends the load and the peers, and compares what is on their disks and what was acknowledged. */
const judge = async (machines: Machines, load: Load, say: Say): Promise<void> => {
  await load.stop();
  await machines.ready(...machines.ids);
  await machines.settled();
  const acknowledged = await load.verify();
  const { registered, replaced, reads, lists } = load.counts;
  say(`${registered} registrations, ${replaced} replacements, ${reads} reads, ${lists} lists: nothing is lost`);
  const said = [...load.refusals].map(([code, times]) => `${code} ${times}`);
  say(`refused, each to be repeated: ${said.join(", ")}`);
  const details = await Promise.all(machines.ids.map((id) => machines.detail(id)));
  must(
    details.every(({ approvers }) => approvers === acknowledged),
    `acknowledged ${acknowledged}, stored ${details.map(({ approvers }) => approvers).join(", ")}`,
  );
};

const assertSameRoots = (ends: Awaited<ReturnType<Machines["ends"]>>, say: Say): void => {
  const [first = ""] = ends.map(({ root }) => root);
  must(
    ends.every(({ root }) => root === first),
    `the roots differ: ${ends.map(({ root }) => root.slice(0, 16)).join(", ")}`,
  );
  say(`${ends[0]?.approvers} approvers under one root`);
};

/** The peer API is for members: who trusts the authority and has no certificate of its own gets no answer. */
const assertMembersOnly = async (machines: Machines, say: Say): Promise<void> => {
  for (const id of machines.ids) {
    const stranger = await machines.callPeerApi(id, undefined);
    const isCutOff = Either.isLeft(stranger) && stranger.left._tag === "Broken";
    must(isCutOff, `peer ${id} lets a caller without a certificate come to its peer API`);
    const member = await machines.callPeerApi(id, (id % machines.ids.length) + 1);
    const isAnswered = Either.isRight(member) && member.right.status === 404;
    must(isAnswered, `peer ${id} does not answer a member at its peer API`);
  }
  say("the peer APIs answer members, and nobody without a certificate");
};

/** Every peer is restarted as it is. */
export const rollingRestart = async (present: Installed, folder: string, say: Say): Promise<void> => {
  const machines = await Machines.prepare(folder, present.package, { limits: { "drain-delay": "1s" } });
  await machines.found(present);
  await assertMembersOnly(machines, say);
  const load = new Load(machines, "restart");
  load.start();
  await roll(machines, load, present, { say, after: async () => undefined });
  await judge(machines, load, say);
  await machines.stopAll();
  assertSameRoots(await machines.ends(NEWEST), say);
};

const PRESENT_VERSIONS = `${VERSIONS.lowest} to ${VERSIONS.highest}`;
const NEXT_VERSIONS = `${NEWEST} to ${NEXT}`;

/** What a peer says that every peer speaks, by peer. */
const spokenAt = async (machines: Machines, id: number): Promise<ReadonlyArray<string>> => {
  const { members } = await machines.detail(id);
  return members.map(({ versions }) => (versions === null ? "unknown" : `${versions.lowest} to ${versions.highest}`));
};

/** In which versions the rows of a table were written, each once and ascending. */
const versionsIn = (end: Awaited<ReturnType<Machines["ends"]>>[number], table: "keys" | "certificates") =>
  [...new Set([...(end.tables.get(table)?.values() ?? [])].map(({ row }) => versionOf(row)))].toSorted(
    (left, right) => left - right,
  );

/** The older program is not let onto the newer one's rows, and says why. */
const assertNoWayBack = async (machines: Machines, present: Installed, say: Say): Promise<void> => {
  await machines.stop(1);
  const { code, stderr } = await machines.refusesToStart(1, present);
  must(
    code === 2 && /was written by (?:another|a later) version of this program/.test(stderr),
    `the older program: ${code}, ${stderr}`,
  );
  say(`the older program on the newer one's rows: exit code 2, ${stderr.trim().split(": ").at(-1)}`);
};

/** A program with no version in common is named to callers and operators, and does not take part. */
const assertFarIsNamed = async (machines: Machines, far: Installed, next: Installed, say: Say): Promise<void> => {
  await Promise.all(machines.ids.map((id) => machines.start(id, id === 1 ? far : next)));
  for (const id of [2, 3]) await machines.unseal(id);
  await machines.unseal(1);
  const reason = `it speaks versions ${FAR - 1} to ${FAR} of the protocol, this peer versions ${NEWEST} to ${NEXT}`;
  await until("the far program is named", async () => (await machines.ask(2, "system/ready")).text.includes(reason));
  say(`a program without a version in common is named: ${reason}`);
};

/** Every peer is brought to the next version; the two work side by side until the last one has it. */
export const rollingUpgrade = async (present: Installed, folder: string, say: Say): Promise<void> => {
  mkdirSync(folder, { recursive: true });
  const next = await nextProgram(present, join(folder, "next"));
  const machines = await Machines.prepare(join(folder, "peers"), present.package, { limits: { "drain-delay": "1s" } });
  await machines.found(present);
  must(
    (await spokenAt(machines, 1)).every((each) => each === PRESENT_VERSIONS),
    "a peer speaks what it cannot",
  );
  const load = new Load(machines, "upgrade");
  load.start();
  const after = async (moved: ReadonlyArray<number>): Promise<void> => {
    for (const id of machines.ids)
      await until(`peer ${id} knows what all speak`, async () => {
        const spoken = await spokenAt(machines, id);
        return machines.ids.every(
          (each, at) => spoken[at] === (moved.includes(each) ? NEXT_VERSIONS : PRESENT_VERSIONS),
        );
      });
    const programs = await Promise.all(machines.ids.map(async (id) => (await machines.detail(id)).version));
    say(`side by side: ${programs.join(", ")}`);
  };
  await roll(machines, load, next, { say, after });
  await load.more(BETWEEN);
  await judge(machines, load, say);
  await assertNoWayBack(machines, present, say);
  await machines.start(1, next);
  await machines.unseal(1);
  await machines.ready(...machines.ids);
  await machines.stopAll();
  const ends = await machines.ends(NEXT);
  assertSameRoots(ends, say);
  for (const end of ends)
    for (const table of ["keys", "certificates"] as const)
      must(versionsIn(end, table).join(" ") === `${NEWEST} ${NEXT}`, `${table} are in ${versionsIn(end, table)}`);
  say(`rows and certificates of versions ${NEWEST} and ${NEXT} lie side by side on every disk`);
  await assertFarIsNamed(machines, farProgram(next, join(folder, "far")), next, say);
  await machines.stopAll();
};
