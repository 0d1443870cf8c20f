/**
 * Bugs put in on purpose, one at least for every checker, each at a port of the
 * driver or of its store. properties/SimulationPlantedBugs.test.ts shows that
 * each is found, under the id named here.
 */
import { bodyBugs } from "./bugs/BodyBugs.ts";
import { callerBugs } from "./bugs/CallerBugs.ts";
import { clockBugs } from "./bugs/ClockBugs.ts";
import { damageBugs } from "./bugs/DamageBugs.ts";
import { enrollmentBugs } from "./bugs/EnrollmentBugs.ts";
import { gatewayBugs } from "./bugs/GatewayBugs.ts";
import { memoryBugs } from "./bugs/MemoryBugs.ts";
import { operatorBugs } from "./bugs/OperatorBugs.ts";
import { registryBugs } from "./bugs/RegistryBugs.ts";
import { restoreBugs } from "./bugs/RestoreBugs.ts";
import { settlementBugs } from "./bugs/SettlementBugs.ts";
import { signingBugs } from "./bugs/SigningBugs.ts";
import { tokenBugs } from "./bugs/TokenBugs.ts";
import type { PlantedBug } from "./PlantedBug.ts";
import type { RunOptions } from "./RunOptions.ts";

export const plantedBugs: ReadonlyArray<PlantedBug> = [
  ...signingBugs,
  ...settlementBugs,
  ...registryBugs,
  ...tokenBugs,
  ...clockBugs,
  ...gatewayBugs,
  ...restoreBugs,
  ...memoryBugs,
  ...damageBugs,
  ...callerBugs,
  ...bodyBugs,
  ...enrollmentBugs,
  ...operatorBugs,
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
