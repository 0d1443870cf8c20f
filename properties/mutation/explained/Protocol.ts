/** Of `core/protocol`. */
import { type ExplainedFiles, FOR_TYPES } from "./Reasons.ts";

export const protocol: ExplainedFiles = {
  "core/protocol/Abort.ts": {
    [`${FOR_TYPES} A pledge is signed in the turn that asks for it, and there is an acknowledgement for each draft.`]: [
      ["preparation === undefined", "false"],
      ["ack === undefined", "false"],
    ],
    [`${FOR_TYPES} Members are asked about what is open here alone, and a refusal of an earlier turn has its row.`]: [
      ["[]", '["Stryker was here"]'],
      ["[]", '["Stryker was here"]'],
      ["refused && row", "true"],
      ["refused && row", "refused || row"],
    ],
    [`${FOR_TYPES} Who is asked has joined, and has acknowledged then what it had applied; what it has of an old life, or took from others, is acknowledged at this very moment.`]:
      [["ack !== undefined", "true"]],
    "Who is recovering has prepared nothing and counts no votes but its own, so nothing is complete at it; and a turn would not sign for it.":
      [["!isRecovering", "true"]],
  },
  "core/protocol/Answers.ts": {
    [`${FOR_TYPES} What nobody holds has no id that anything under way could have.`]: [
      ["holder === undefined", "false"],
    ],
  },
  "core/protocol/Certificate.ts": {
    [`${FOR_TYPES} There are as many receipts as members by then.`]: [["receipt !== undefined", "true"]],
  },
  "core/protocol/Coordinator.ts": {
    [`${FOR_TYPES} There is a receipt for each proposal.`]: [["entry !== undefined", "true"]],
    "A registration brings no response, and neither did whatever registers the same approver; only a finish has one, so the condition tells the type checker.":
      [['mutation.kind === "FINISH"', "true"]],
    "A replacement claims no key and completes no session, so no such lock is held; the condition tells the type checker.":
      [['mutation.kind === "METADATA"', "false"]],
  },
  "core/protocol/Delivery.ts": {
    [`${FOR_TYPES} What is acknowledged or delivered is in the outbox, a delivery's certificate is stored, and a complete one has a receipt of everybody.`]:
      [
        ["delivery !== undefined", "true"],
        ["delivery === undefined", "false"],
        ["outbox.get(seq)?.dueAt", "outbox.get(seq).dueAt"],
        ["[]", '["Stryker was here"]'],
        ["own?.header", "own.header"],
      ],
    "What is prepared has no outcome, and what is not being collected is not taken out: the conditions save reading and copying.":
      [
        ["preparation === undefined", "true"],
        ["turn.state.collecting.has(id)", "true"],
      ],
    "A registration is certified only where nobody has the ref, so there is nothing to read.": [
      ['kind === "METADATA"', "true"],
    ],
    "A replacement's key has its owner, and it completes no session: there is nothing more to do.": [
      ["before !== undefined", "false"],
    ],
    "A timer that is never due is not set.": [
      ["open.length > 0", "true"],
      ["open.length > 0", "open.length >= 0"],
    ],
    "Members drop their locks when they apply, and have no rounds.": [["!turn.isWriter", "false"]],
  },
  "core/protocol/Genesis.ts": {
    [`${FOR_TYPES} A topology is pinned with its signatures.`]: [["pinned !== undefined", "true"]],
  },
  "core/protocol/GenesisCard.ts": {
    [`${FOR_TYPES} A peer's own card is among those that make a topology.`]: [
      ["sorted[0]?.threshold", "sorted[0].threshold"],
      ["sorted[0]?.development", "sorted[0].development"],
      ["false", "true"],
    ],
    "Behind the end of two texts of one length there is nothing that could differ.": [
      ["at < own.length", "at <= own.length"],
    ],
  },
  "core/protocol/HighSlot.ts": {
    "Slots are counted from 1, so there is no row to be found; the condition saves looking for one.": [
      ["highSeq === 0", "false"],
    ],
  },
  "core/protocol/Entry.ts": {
    [`${FOR_TYPES} An offer is believed of nothing but a request for options.`]: [
      ['awaited.request.kind !== "OPTIONS"', "false"],
    ],
    "No proposal is of the kind of a request for options, so it would be found not to be made by one.": [
      ['case "OPTIONS":\n      return false;', 'case "OPTIONS":'],
    ],
    "A timer that is never due is not set.": [
      ["deadlines.length > 0", "true"],
      ["deadlines.length > 0", "deadlines.length >= 0"],
    ],
    "Where nobody is late the round stays as it is: the condition saves writing it again.": [
      ["late.length === 0", "false"],
    ],
  },
  "core/protocol/Incarnations.ts": {
    [`${FOR_TYPES} Only other members are heard, and each of them has a row from the founding on.`]: [
      ["known === undefined", "false"],
    ],
  },
  "core/protocol/Inquiry.ts": {
    [`${FOR_TYPES} Who is being restored has announced it.`]: [
      ["restored === undefined", "false"],
      ["restored?.restoration", "restored.restoration"],
    ],
  },
  "core/protocol/LateCopy.ts": {
    "What is written again is what was there.": [["until < receivedAt", "until <= receivedAt"]],
    "Nothing compares as earlier than what is not there; the condition tells the type checker.": [
      ["until !== undefined", "true"],
    ],
  },
  "core/protocol/Merkle.ts": {
    "One leaf is its own root, without siblings, by the longer way too, which the conditions save.": [
      ["first !== undefined && leaves.length === 1", "false"],
      ["first !== undefined", "first === undefined"],
      ["size === 1", "false"],
    ],
    [`${FOR_TYPES} There is a list of siblings for every leaf.`]: [
      ["first !== undefined", "true"],
      ["proofs[index]?.push", "proofs[index].push"],
    ],
    "A proof that has ended below has nothing left above, which is looked at as well.": [
      ["below === undefined", "false"],
    ],
  },
  "core/protocol/Participant.ts": {
    "Nothing else has a deadline, and no time is later than one that is not there; the condition tells the type checker.":
      [['mutation.kind === "FINISH"', "true"]],
    "Digested anew, the same effects make the same proposal.": [["effects === proposal.effects", "false"]],
  },
  "core/protocol/OwnRequest.ts": {
    "What a proposal of another kind came from is no replacement; the condition saves looking through those who wait.":
      [['proposal.kind !== "METADATA"', "false"]],
    [`${FOR_TYPES} A request of another kind than the proposal did not make it.`]: [
      ['awaited.request.kind === "METADATA"', "true"],
    ],
  },
  "core/protocol/Preparations.ts": {
    [`${FOR_TYPES} There is a receipt for each draft.`]: [["reservation !== undefined", "true"]],
  },
  "core/protocol/Proposal.ts": {
    "Made anew, the names of the locks are the same.": [["known !== undefined", "false"]],
  },
  "core/protocol/Readiness.ts": {
    [`${FOR_TYPES} Each other member has a row from the founding on.`]: [
      ["known?.newest", "known.newest"],
      ["known?.newest", "known.newest"],
      ["known?.restored", "known.restored"],
    ],
  },
  "core/protocol/Reacknowledge.ts": {
    [`${FOR_TYPES} There is an acknowledgement for each draft.`]: [["ack === undefined", "false"]],
  },
  "core/protocol/Recovery.ts": {
    [`${FOR_TYPES} Who is unsealed has a signer, and who is being restored its announcement; a transfer is part of a round, and a round of a recovery.`]:
      [
        ["signer === undefined", "false"],
        ["recovery === undefined", "false"],
        ["restored === undefined", "false"],
        ["restored?.restoration", "restored.restoration"],
        ["turn.state.restored?.restoration", "turn.state.restored.restoration"],
        ["recovery?.nonce === undefined || restored === undefined", "false"],
        [
          "recovery?.nonce === undefined || restored === undefined",
          "recovery?.nonce === undefined && restored === undefined",
        ],
        ["recovery?.nonce === undefined", "false"],
        ["recovery?.nonce", "recovery.nonce"],
      ],
    [`${FOR_TYPES} A full page has a last row.`]: [["last !== undefined", "true"]],
    "A slot that is no higher is not noted in any case; the condition saves verifying its proof.": [
      ["highSeq <= turn.state.highSeq", "false"],
      ["highSeq <= turn.state.highSeq", "highSeq < turn.state.highSeq"],
    ],
    "What binds no slot is only copied.": [["each.bindsSlot", "true"]],
  },
  "core/protocol/Refusals.ts": {
    "Nobody to put first leaves the queue as it was; the condition saves a copy of it.": [
      ["joiners.length > 0", "true"],
      ["joiners.length > 0", "joiners.length >= 0"],
    ],
    [`${FOR_TYPES} There is a signed refusal for each draft.`]: [["entry !== undefined", "true"]],
    [`${FOR_TYPES} A writer aborts what it has pledged to give up, and pledges upon a refusal that it notes with the round at once.`]:
      [["refusal === undefined", "false"]],
  },
  "core/protocol/Restoration.ts": {
    [`${FOR_TYPES} Announcements are looked at only where they name a member.`]: [["key !== undefined", "true"]],
  },
  "core/protocol/Rollback.ts": {
    [`${FOR_TYPES} A header is looked at further only where it names this peer, which has a row then.`]: [
      ["peer === undefined", "false"],
    ],
  },
  "core/protocol/Settlement.ts": {
    "Nobody but the writer has evidence to send again; the condition saves others the search.": [
      ["turn.isWriter", "true"],
    ],
    "A timer that would never be due is not set; the condition says when there is none.": [
      ["next !== Number.POSITIVE_INFINITY", "true"],
    ],
    "Taking out what is not there changes nothing; the condition saves a copy.": [
      ["turn.state.collecting.has(id)", "true"],
    ],
  },
  "core/protocol/SnapshotHelper.ts": {
    [`${FOR_TYPES} Each other member has a row from the founding on.`]: [
      ["state.seen.get(from)?.restored", "state.seen.get(from).restored"],
    ],
  },
  "core/protocol/SnapshotInstall.ts": {
    "No key comes after an end that is not there; the condition tells the type checker.": [
      ["upTo !== undefined", "true"],
    ],
  },
  "core/protocol/Topology.ts": {
    [`${FOR_TYPES} There are as many signatures as members by then.`]: [["own !== undefined", "true"]],
  },
  "core/protocol/Votes.ts": {
    "One statement repeats none; the condition saves the look at it.": [["statements.length < 2", "false"]],
    "What nobody has prepared has no receipts that could be complete.": [["[]", '["Stryker was here"]']],
    "Nothing comes of no votes; the condition saves the way to it.": [
      ["abortVotes.length > 0", "true"],
      ["abortVotes.length > 0", "abortVotes.length >= 0"],
    ],
    "Only abort votes are counted there. With the last one of a proposal this peer has done at once what is to be done, unless a member that lies showed it that vote with another proposal: then it pledges a little earlier.":
      [["statements.filter(isAbortKind)", "statements"]],
  },
};
