#!/usr/bin/env node
/** The `custody` command. Modules that a subcommand does not need are not loaded; no logic lives here. */
import "./NoDebugger.ts";
import { fileURLToPath } from "node:url";
import { runCustody } from "../cli/Custody.ts";

runCustody({
  entry: fileURLToPath(import.meta.url),
  loadSim: async () => (await import("../../sim/bin/simCommand.ts")).sim,
});
