/** Every implementation the contract is checked against; a new one adds itself here. */
import type { Implementation } from "./Implementation.ts";
import { memoryLater } from "./MemoryImplementation.ts";
import { simulatedDisk } from "./SimDiskImplementation.ts";
import { sqlite } from "./SqliteImplementation.ts";

export const implementations: ReadonlyArray<Implementation> = [memoryLater, simulatedDisk, sqlite];
