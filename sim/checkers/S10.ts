/**
 * S10: no peer holds more than 256 uncommitted preparations; at the writer no registrar has more than 8 unfinished
 * sessions, and no more than 256 are unexpired.
 */
import { Limits } from "../../core/Limits.ts";
import type { Rows } from "../../core/Tables.ts";
import type { Checker } from "../Checker.ts";
import type { Ghost } from "../Ghost.ts";
import { Violation } from "../Violation.ts";

type Row = Rows["sessions"];

const registrarOf = ({ session }: Row): string => JSON.stringify([session.registrar.iss, session.registrar.sub]);

/** Whether two sessions were opened in the same lives of all members; of two that were not, the older one is void. */
const isOfSameLives = (left: Row, right: Row): boolean =>
  left.session.incarnations.every((each, index) => each === right.session.incarnations[index]);

/** Throws {@link Violation} where too many count beside the newest, at the moment at which it was made. */
const assertRoom = (slot: number, newest: Row, all: ReadonlyArray<Row>): void => {
  const rows = all.filter((row) => isOfSameLives(row, newest));
  const now = Math.max(...rows.map(({ session }) => session.createdAt));
  const unexpired = rows.filter(({ session }) => session.expiresAt >= now);
  const unfinished = new Map<string, number>();
  for (const row of unexpired)
    if (row.completed === undefined) unfinished.set(registrarOf(row), (unfinished.get(registrarOf(row)) ?? 0) + 1);
  const most = Math.max(0, ...unfinished.values());
  if (most > Limits.sessionsPerRegistrar)
    throw new Violation(
      "S10",
      `a registrar may have ${Limits.sessionsPerRegistrar} unfinished sessions`,
      `one has ${most} at peer ${slot}`,
    );
  if (unexpired.length > Limits.sessions)
    throw new Violation(
      "S10",
      `the writer may have ${Limits.sessions} unexpired sessions`,
      `peer ${slot} has ${unexpired.length}`,
    );
};

export const S10 = (ghost: Ghost): Checker => {
  const sessions = new Map<number, Map<string, Row>>();
  return {
    id: "S10",
    written: {
      // What a restored disk has forgotten is void, and takes up no room.
      restore: ({ slot }) => void sessions.delete(slot),
      sessions: ({ slot, honest }, write) => {
        if (!honest || ghost.membership?.writer !== slot) return;
        const kept = sessions.get(slot) ?? new Map<string, Row>();
        sessions.set(slot, kept);
        if (write.op === "remove") return void kept.delete(write.key);
        kept.set(write.key, write.row);
        if (write.op === "insert") assertRoom(slot, write.row, [...kept.values()]);
      },
    },
    flushed: ({ slot, honest }) => {
      const { size } = ghost.openAt(slot);
      if (honest && size > Limits.preparations)
        throw new Violation(
          "S10",
          `peer ${slot} has ${size} uncommitted preparations`,
          `it may have ${Limits.preparations}`,
        );
    },
  };
};
