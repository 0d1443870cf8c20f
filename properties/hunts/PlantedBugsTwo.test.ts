import { showEvery } from "./PlantedBugsShown.ts";

showEvery(2, 1);
