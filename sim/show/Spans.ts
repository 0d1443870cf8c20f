/** Things that last: requests that wait for an answer, and conditions of the world. Each gets a free column. */
import type { CallData, ConditionData } from "./PictureData.ts";
import type { Recorder } from "./Recorder.ts";
import type { Change } from "./Conditions.ts";

/** Columns for overlapping things: the lowest free one is taken. */
class Columns {
  readonly #taken = new Set<number>();

  take(): number {
    let column = 0;
    while (this.#taken.has(column)) column += 1;
    this.#taken.add(column);
    return column;
  }

  free(column: number): void {
    this.#taken.delete(column);
  }
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

export const callsOf = (recorder: Recorder): ReadonlyArray<CallData> => {
  const columns = new Columns();
  const open = new Map<string, Mutable<CallData>>();
  const calls: Array<CallData> = [];
  const end = (request: string, row: number, how: CallData["end"]): void => {
    const call = open.get(request);
    if (call === undefined) return;
    open.delete(request);
    columns.free(call.column);
    call.to = row;
    call.end = how;
  };
  recorder.moments.forEach(({ kind, slot, detail, asked, replies }, row) => {
    if (asked !== undefined) {
      const request = asked.requestId;
      const call: Mutable<CallData> = { request, peer: slot, column: columns.take(), from: row, to: null, end: "open" };
      open.set(request, call);
      calls.push(call);
    }
    if (kind === "silence") end(detail, row, "silence");
    for (const { requestId, answer } of replies)
      end(requestId, row, answer._tag === "Rejected" ? "refused" : "answered");
  });
  return calls;
};

/** Cut links between two groups that cannot reach each other at all, as these groups. */
const partitionText = (links: ReadonlyArray<Change>, peers: number): string | undefined => {
  const cut = new Set(links.map(({ from, to }) => `${from} ${to}`));
  const side = Array.from({ length: peers }, (_, index) => index + 1).filter(
    (slot) => slot === 1 || !cut.has(`1 ${slot}`),
  );
  const other = Array.from({ length: peers }, (_, index) => index + 1).filter((slot) => !side.includes(slot));
  const isSplit = other.length > 0 && links.length === 2 * side.length * other.length;
  const crosses = side.every((left) =>
    other.every((right) => cut.has(`${left} ${right}`) && cut.has(`${right} ${left}`)),
  );
  return isSplit && crosses ? `partition {${side.join(", ")}} | {${other.join(", ")}}` : undefined;
};

const groupText = (group: ReadonlyArray<Change>, peers: number): string => {
  const [first] = group;
  if (first === undefined) return "";
  if (first.kind !== "link") return `peer ${first.from}: ${first.now}`;
  const partition = first.now === "cut" ? partitionText(group, peers) : undefined;
  if (partition !== undefined) return partition;
  const isAll = peers > 2 && group.length === peers * (peers - 1);
  const links = isAll ? "every link" : group.map(({ from, to }) => `${from} → ${to}`).join(", ");
  return `${links}: ${first.now}`;
};

/** Groups of like changes that came together. */
const alike = (changes: ReadonlyArray<Change>): ReadonlyArray<ReadonlyArray<Change>> => {
  const groups = new Map<string, Array<Change>>();
  for (const change of changes) {
    if (change.now === undefined) continue;
    const name = change.kind === "link" ? `link ${change.now}` : `${change.kind} ${change.from} ${change.now}`;
    const group = groups.get(name) ?? [];
    group.push(change);
    groups.set(name, group);
  }
  return [...groups.values()];
};

const nameOf = ({ kind, from, to }: Change): string => `${kind} ${from} ${to}`;

/** Changes in words, for the moment at which they came. */
export const changesText = (changes: ReadonlyArray<Change>, peers: number): string => {
  const begun = alike(changes).map((group) => groupText(group, peers));
  const over = changes.filter(({ now }) => now === undefined);
  const links = over.filter(({ kind }) => kind === "link").map(({ from, to }) => `${from} → ${to}`);
  if (links.length > 0)
    begun.push(`as usual again: ${links.length === peers * (peers - 1) ? "every link" : links.join(", ")}`);
  for (const { kind, from } of over) if (kind !== "link") begun.push(`peer ${from}: ${kind} as usual again`);
  return begun.join("; ");
};

export const conditionsOf = (recorder: Recorder): ReadonlyArray<ConditionData> => {
  const { peers } = recorder.world.plan;
  const columns = new Columns();
  const conditions: Array<Mutable<ConditionData>> = [];
  const open = new Map<string, Mutable<ConditionData>>();
  recorder.moments.forEach(({ changes }, row) => {
    for (const change of changes) {
      const condition = open.get(nameOf(change));
      open.delete(nameOf(change));
      // A group ends with its first member: what comes after is a condition of its own.
      if (condition === undefined || condition.to !== null) continue;
      condition.to = row;
      columns.free(condition.column);
    }
    for (const group of alike(changes)) {
      const condition = {
        from: row,
        to: null,
        text: groupText(group, peers),
        isCut: group.some(({ now }) => now === "cut"),
        column: columns.take(),
      };
      conditions.push(condition);
      for (const change of group) open.set(nameOf(change), condition);
    }
  });
  return conditions;
};
