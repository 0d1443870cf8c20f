/** S31: nothing durable is raised by bytes that their owner did not sign; nothing about a proposal without its writer's receipt. */
import type { Digest } from "../../core/base/Digest.ts";
import type { Write } from "../../core/Tables.ts";
import type { Checker, Watched } from "./Checker.ts";
import { type Ghost, maskOf } from "./Ghost.ts";
import { type BatchHeader, batchHash } from "../../core/protocol/Statement.ts";
import { FIRST_INCARNATION } from "./Ends.ts";
import { Violation } from "../base/Violation.ts";

const isSame = ({ crypto }: Ghost, left: BatchHeader, right: BatchHeader): boolean =>
  left === right || batchHash(crypto, left) === batchHash(crypto, right);

export const S31 = (ghost: Ghost): Checker => {
  const highest = new Map<number, number>();
  const writersSeq = { highest: 0 };
  const assertWriters = ({ slot, honest }: Watched, { op, table, key }: Write): void => {
    if (!honest || op === "remove" || !ghost.hasHonestWriter) return;
    const writer = ghost.membership?.writer ?? 0;
    const facts = ghost.proposals.get(key as Digest);
    if (facts === undefined || (facts.receipts & maskOf(writer)) === 0)
      throw new Violation(
        "S31",
        `peer ${slot} wrote ${table} about proposal ${key}`,
        `the writer, peer ${writer}, never made a RECEIPT of it durable`,
      );
    writersSeq.highest = Math.max(writersSeq.highest, facts.proposal.seq);
  };
  return {
    id: "S31",
    written: {
      preparations: assertWriters,
      refusals: assertWriters,
      certificates: ({ honest }, write) => {
        if (honest && write.op !== "remove") writersSeq.highest = Math.max(writersSeq.highest, write.row.proposal.seq);
      },
      seen: ({ slot, honest }, write) => {
        if (!honest || write.op === "remove") return;
        const { peerId, incarnation, newest, restored } = write.row;
        if (ghost.isLying(peerId)) return;
        const recoveryId = restored && ghost.recoveryIdOf(peerId, incarnation);
        if (
          incarnation !== FIRST_INCARNATION &&
          (recoveryId === undefined || recoveryId !== restored?.restoration.recoveryId)
        )
          throw new Violation(
            "S31",
            `peer ${slot} recorded incarnation ${incarnation} of peer ${peerId}`,
            `peer ${peerId} never announced that`,
          );
        const real = newest && ghost.batch(peerId, newest.header.incarnation, newest.header.batchNo);
        const isReal = newest === undefined || (real !== undefined && isSame(ghost, newest.header, real));
        if (!isReal)
          throw new Violation(
            "S31",
            `peer ${slot} recorded batch ${newest.header.batchNo} of peer ${peerId}`,
            `peer ${peerId} made ${real === undefined ? "no such batch" : "another one"} durable`,
          );
      },
      counters: ({ slot, honest }, write) => {
        if (!honest || write.op === "remove") return;
        const { highSeq } = write.row;
        const isRaised = ghost.hasHonestWriter && highSeq > (highest.get(slot) ?? 0);
        if (isRaised && highSeq > writersSeq.highest)
          throw new Violation(
            "S31",
            `peer ${slot} raised its highest slot to ${highSeq}`,
            `the writer signed up to ${writersSeq.highest}`,
          );
        highest.set(slot, highSeq);
      },
    },
  };
};
