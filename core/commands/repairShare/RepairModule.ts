/** Repair of a lost share: a request that the peer whose share is missing answers with the help of others. */
import type { Module, Service } from "../../protocol/Module.ts";
import { isPresent, type Mode, modes } from "../../protocol/Mode.ts";
import type { Step } from "../../protocol/Step.ts";
import { REPAIR_PERMISSION } from "../keys/KeyId.ts";
import { HELPING_TIMER, onHelpingTimer, onKey, onOpen, onPart, tidyHelping } from "./Helper.ts";
import {
  acceptRepair,
  forgetRepairs,
  goOnRepairing,
  onRefused,
  onRepairTimer,
  onSum,
  REPAIR_TIMER,
} from "./Repairing.ts";
import { REPAIR_BODY_BYTES, repairMessages, type RepairMessageOf } from "./RepairMessages.ts";
import { isRepair } from "./RepairRequest.ts";
import { repairs } from "./RepairState.ts";

const ACTIVE: ReadonlySet<Mode> = new Set(["active"]);
/** Those in which it says at least that it does not help. */
const PRESENT: ReadonlySet<Mode> = new Set(modes.filter(isPresent));

const repair: Service = {
  kind: "REPAIR",
  bodyBytes: REPAIR_BODY_BYTES,
  recognizes: isRepair,
  permissionsOf: () => [REPAIR_PERMISSION],
  accept: acceptRepair,
};

const none = (): ReadonlyArray<string> => [];

const goOn = (step: Step): void => {
  if (!ACTIVE.has(step.mode)) return forgetRepairs(step);
  goOnRepairing(step);
  tidyHelping(step);
};

export const repairing = {
  name: "repairing",
  supplies: undefined,
  tables: {},
  contents: undefined,
  slice: repairs,
  exchanges: [],
  services: [repair],
  messages: {
    "Repair.Open": {
      codec: repairMessages["Repair.Open"],
      tokensIn: ({ evidence }: RepairMessageOf<"Repair.Open">) => [evidence.token],
      modes: PRESENT,
      run: onOpen,
    },
    "Repair.Key": { codec: repairMessages["Repair.Key"], tokensIn: none, modes: ACTIVE, run: onKey },
    "Repair.Part": { codec: repairMessages["Repair.Part"], tokensIn: none, modes: ACTIVE, run: onPart },
    "Repair.Sum": { codec: repairMessages["Repair.Sum"], tokensIn: none, modes: ACTIVE, run: onSum },
    "Repair.Refused": { codec: repairMessages["Repair.Refused"], tokensIn: none, modes: ACTIVE, run: onRefused },
  },
  timers: {
    [REPAIR_TIMER]: { modes: ACTIVE, run: onRepairTimer },
    [HELPING_TIMER]: { modes: ACTIVE, run: onHelpingTimer },
  },
  goOn,
} satisfies Module;
