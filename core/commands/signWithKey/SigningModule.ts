/** Signatures: requests that the peer they came to answers with the help of as many members as it takes. */
import type { Module, Service } from "../../protocol/Module.ts";
import { isPresent, type Mode, modes } from "../../protocol/Mode.ts";
import type { Step } from "../../protocol/Step.ts";
import { Limits } from "../../base/Limits.ts";
import { keyIdIn, keyPermission } from "../keys/KeyId.ts";
import { armSweep, CONSENTS_TIMER, onConsentsTimer } from "./Consents.ts";
import { armSessions, onOpen, onPackage, onSessionsTimer, SESSIONS_TIMER } from "./Signer.ts";
import {
  acceptSigning,
  armAttempts,
  ATTEMPTS_TIMER,
  beginNext,
  forgetAll,
  onAttemptsTimer,
  onCommit,
  onRefused,
  onShare,
} from "./SigningCoordinator.ts";
import { signMessages, type SignMessageOf } from "./SignMessages.ts";
import { notHere } from "./SigningRefusals.ts";
import { isSigning } from "./SigningRequest.ts";
import { signings } from "./SigningState.ts";

/**
 * A joining peer signs like an active one: it may have to for weeks, while another member is away, and that its memory
 * may lack something costs nobody anything (docs/decisions/0046-joining-members-sign.md).
 */
const SIGNING: ReadonlySet<Mode> = new Set(["active", "joining"]);

/** Those in which it says why it does not sign. */
const PRESENT: ReadonlySet<Mode> = new Set(modes.filter(isPresent));

const signing: Service = {
  kind: "SIGN",
  bodyBytes: Limits.signingBodyBytes,
  recognizes: isSigning,
  permissionsOf: ({ path }) => [keyPermission(keyIdIn(path, "sign") ?? "", "sign")],
  accept: acceptSigning,
  notHere,
};

const none = (): ReadonlyArray<string> => [];

const goOn = (step: Step): void => {
  if (!SIGNING.has(step.mode)) return forgetAll(step);
  beginNext(step);
  armAttempts(step);
  armSessions(step);
  armSweep(step);
};

export const signatures = {
  name: "signatures",
  supplies: undefined,
  tables: {},
  contents: undefined,
  slice: signings,
  exchanges: [],
  services: [signing],
  messages: {
    "Sign.Open": {
      codec: signMessages["Sign.Open"],
      tokensIn: ({ evidence }: SignMessageOf<"Sign.Open">) => [evidence.token],
      modes: PRESENT,
      run: onOpen,
    },
    "Sign.Commit": { codec: signMessages["Sign.Commit"], tokensIn: none, modes: SIGNING, run: onCommit },
    "Sign.Refused": { codec: signMessages["Sign.Refused"], tokensIn: none, modes: SIGNING, run: onRefused },
    "Sign.Package": { codec: signMessages["Sign.Package"], tokensIn: none, modes: SIGNING, run: onPackage },
    "Sign.Share": { codec: signMessages["Sign.Share"], tokensIn: none, modes: SIGNING, run: onShare },
  },
  timers: {
    [ATTEMPTS_TIMER]: { modes: SIGNING, run: onAttemptsTimer },
    [SESSIONS_TIMER]: { modes: SIGNING, run: onSessionsTimer },
    [CONSENTS_TIMER]: { modes: SIGNING, run: onConsentsTimer },
  },
  goOn,
} satisfies Module;
