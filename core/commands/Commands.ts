/** The commands that this version of the service knows; one more is one more line here. */
import type { Command, Commands } from "../protocol/Command.ts";
import { enrollment } from "./enrollPasskey/EnrollmentModule.ts";
import type { Module } from "../protocol/Module.ts";
import { approverContents } from "./approvers/Contents.ts";
import { enrollPasskey } from "./enrollPasskey/EnrollPasskey.ts";
import { registerKey } from "./registerKey/RegisterKey.ts";
import { replaceMetadata } from "./replaceMetadata/ReplaceMetadata.ts";

const all: ReadonlyArray<Command> = [registerKey, replaceMetadata, enrollPasskey];

const modules: ReadonlyArray<Module> = [enrollment];

export const commands: Commands = {
  all,
  modules,
  exchanges: new Map(modules.flatMap(({ exchanges }) => exchanges.map((each) => [each.kind, each] as const))),
  byKind: new Map(all.map((command) => [command.kind, command])),
  contents: approverContents,
};
