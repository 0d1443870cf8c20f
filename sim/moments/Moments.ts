/**
 * Faults that wait for one moment of the protocol and strike exactly then. Each moment is a unit, whose quiet value
 * is that nothing strikes there; where a moment is every so many flushes, every flush is one, so that a tape can say
 * which of them strikes without the number.
 */
import { crashAtEverySync, crashBetweenCommits, crashReserved, writerRestartAfterPrepare } from "./Crashes.ts";
import { copyAfterRestart, copyAfterStorm } from "./DuplicateRequests.ts";
import {
  damageUnderFinish,
  damageUnderForward,
  duplicateId,
  exchangeDisk,
  loseOne,
  restoreDeclared,
  restoreWithoutLoss,
  rollBackOne,
  tearReservation,
  wipeOne,
} from "./Machines.ts";
import { olderVersion } from "./OlderVersion.ts";
import { changeRowsWhileDown } from "./RowsWhileDown.ts";
import {
  changeWhileAsked,
  disbelieveTokens,
  isolateOnePreparer,
  isolateWriterAfterPrepare,
  judgeTooLate,
  refuseBehind,
  silenceOne,
  withholdAcknowledgements,
  abortedEnough,
} from "./Silences.ts";

export const moments = {
  isolateWriterAfterPrepare,
  isolateOnePreparer,
  crashAtEverySync,
  crashBetweenCommits,
  writerRestartAfterPrepare,
  copyAfterRestart,
  copyAfterStorm,
  crashReserved,
  damageUnderForward,
  damageUnderFinish,
  tearReservation,
  exchangeDisk,
  changeRowsWhileDown,
  changeWhileAsked,
  disbelieveTokens,
  judgeTooLate,
  refuseBehind,
  silenceOne,
  withholdAcknowledgements,
  abortedEnough,
  wipeOne,
  loseOne,
  rollBackOne,
  restoreDeclared,
  restoreWithoutLoss,
  duplicateId,
  olderVersion,
} as const;
