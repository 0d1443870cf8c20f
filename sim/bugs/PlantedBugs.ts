/**
 * Bugs put in on purpose, at least one for every checker, each at a port of the
 * driver or of its store. `npm run test:hunts` shows that each is found, under the
 * id named here.
 */
import { bodyBugs } from "./BodyBugs.ts";
import { callerBugs } from "./CallerBugs.ts";
import { capacityBugs } from "./CapacityBugs.ts";
import { clockBugs } from "./ClockBugs.ts";
import { credulityBugs } from "./CredulityBugs.ts";
import { damageBugs } from "./DamageBugs.ts";
import { dealBugs } from "./DealBugs.ts";
import { deskBugs } from "./DeskBugs.ts";
import { enrollmentBugs } from "./EnrollmentBugs.ts";
import { gatewayBugs } from "./GatewayBugs.ts";
import { identityBugs } from "./IdentityBugs.ts";
import { keyBugs } from "./KeyBugs.ts";
import { keyLivenessBugs } from "./KeyLivenessBugs.ts";
import { keyReadBugs } from "./KeyReadBugs.ts";
import { linkBugs } from "./LinkBugs.ts";
import { listBugs } from "./ListBugs.ts";
import { makingBugs } from "./MakingBugs.ts";
import { memoryBugs } from "./MemoryBugs.ts";
import { nonceBugs } from "./NonceBugs.ts";
import { operatorBugs } from "./OperatorBugs.ts";
import { policyBugs } from "./PolicyBugs.ts";
import { promotionBugs } from "./PromotionBugs.ts";
import { readinessBugs } from "./ReadinessBugs.ts";
import { registryBugs } from "./RegistryBugs.ts";
import { repairBugs } from "./RepairBugs.ts";
import { repetitionBugs } from "./RepetitionBugs.ts";
import { restoreBugs } from "./RestoreBugs.ts";
import { sessionBugs } from "./SessionBugs.ts";
import { settlementBugs } from "./SettlementBugs.ts";
import { signingBugs } from "./SigningBugs.ts";
import { tokenBugs } from "./TokenBugs.ts";
import { wireBugs } from "./WireBugs.ts";
import type { PlantedBug } from "./PlantedBug.ts";
import type { RunOptions } from "../run/RunOptions.ts";

export const plantedBugs: ReadonlyArray<PlantedBug> = [
  ...signingBugs,
  ...settlementBugs,
  ...registryBugs,
  ...identityBugs,
  ...listBugs,
  ...policyBugs,
  ...tokenBugs,
  ...clockBugs,
  ...readinessBugs,
  ...gatewayBugs,
  ...restoreBugs,
  ...memoryBugs,
  ...damageBugs,
  ...callerBugs,
  ...bodyBugs,
  ...enrollmentBugs,
  ...operatorBugs,
  ...credulityBugs,
  ...capacityBugs,
  ...linkBugs,
  ...deskBugs,
  ...sessionBugs,
  ...wireBugs,
  ...repetitionBugs,
  ...keyBugs,
  ...nonceBugs,
  ...makingBugs,
  ...keyLivenessBugs,
  ...keyReadBugs,
  ...repairBugs,
  ...dealBugs,
  ...promotionBugs,
];

const STEPS = 1_200;

/** The run in which a bug is looked for. */
export const plantedBugOptions = (
  { schedule = "calm", peers = 3, steps = STEPS, crypto = "fast" }: PlantedBug,
  seed: number,
): RunOptions => ({
  seed,
  schedule,
  peers,
  crypto,
  steps,
});

export const plantedBugNamed = (name: string): PlantedBug | undefined => plantedBugs.find((bug) => bug.name === name);
