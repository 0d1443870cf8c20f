/** Enrollment besides the command that completes it: requests for options, and sessions at every member. */
import type { Exchange, Module } from "../../protocol/Module.ts";
import { requestKey } from "../../protocol/Forward.ts";
import { REGISTER_PERMISSION } from "../approvers/Permissions.ts";
import { answerRejected, callerOf } from "../../protocol/Answers.ts";
import { type Enrollment, enrollmentOf, isOptions } from "./Enrollment.ts";
import { isPresent, type Mode, modes } from "../../protocol/Mode.ts";
import { enrollments } from "./EnrollmentState.ts";
import { answerOfferedAgain, isOfferProven, optionsAnswer } from "./Offered.ts";
import { noteGivenUp } from "./Sessions.ts";
import { onSessionMirror } from "./SessionMember.ts";
import { offers as offersCoded, sessionMessages, type SessionMessageOf } from "./SessionMessages.ts";
import { enrollmentTables } from "./SessionTables.ts";
import { passkeyTables } from "./Tables.ts";
import { giveUp, MIRROR_TIMER, onMirrorTimer, onSessionVotes, openSessions } from "./SessionWriter.ts";

/** Modes in which its keys, its rows and its memory are whole. */
const PRESENT: ReadonlySet<Mode> = new Set(modes.filter(isPresent));

const options: Exchange<Enrollment> = {
  kind: "OPTIONS",
  permissionsOf: () => [REGISTER_PERMISSION],
  recognizes: isOptions,
  parse: ({ context }, call) => enrollmentOf(context.settings, call),
  accept: (step, admitted, enrollment) =>
    void step.editIn(enrollments, "offers").set(requestKey(admitted.forward), { ...admitted, enrollment }),
  underWay: (step) => step.slice(enrollments).offers.values(),
  answerAgain: answerOfferedAgain,
  giveUp: (step, { forward }) => {
    const offer = step.slice(enrollments).offers.get(requestKey(forward));
    if (offer !== undefined) giveUp(step, offer);
  },
  forgetAll: (step, refusal) => {
    for (const { forward, arrivedAt, enrollment, mirror } of step.slice(enrollments).offers.values()) {
      if (mirror !== undefined) noteGivenUp(step, mirror.session);
      answerRejected(step, callerOf(forward, arrivedAt, enrollment), refusal);
    }
    step.editIn(enrollments, "offers").clear();
    // Invitations outlive neither the keys nor the callers.
    step.editIn(enrollments, "offered").clear();
  },
  proven: (step, { forward }, { relyingParty }, answer) => {
    const offered = offersCoded.decode(answer);
    if (offered === undefined || !isOfferProven(step, forward, offered)) return undefined;
    return optionsAnswer(step, relyingParty, offered);
  },
};

export const enrollment = {
  name: "enrollment",
  supplies: undefined,
  tables: { ...passkeyTables, ...enrollmentTables },
  contents: undefined,
  slice: enrollments,
  exchanges: [options],
  services: [],
  messages: {
    "Session.Mirror": {
      codec: sessionMessages["Session.Mirror"],
      tokensIn: ({ items }: SessionMessageOf<"Session.Mirror">) => items.map(({ evidence }) => evidence.token),
      modes: new Set(["active"]),
      run: onSessionMirror,
    },
    "Session.Votes": {
      codec: sessionMessages["Session.Votes"],
      tokensIn: () => [],
      modes: PRESENT,
      run: onSessionVotes,
    },
  },
  timers: { [MIRROR_TIMER]: { modes: PRESENT, run: onMirrorTimer } },
  goOn: openSessions,
} satisfies Module;
