/** The version of the service from before there was an index of approvers: it writes none, and cannot list. */
import { indexing } from "../../core/commands/approvers/ApproverIndex.ts";
import { type Composition, composed } from "../../core/protocol/Composition.ts";
import { SELF } from "../../core/protocol/Tables.ts";
import type { PeerState } from "../../core/protocol/PeerState.ts";
import type { Write } from "../../core/Tables.ts";

/** It never looks for an index; what changes of one its steps still ask for are not written. */
const older = { boot: () => ({ ...indexing.empty, marked: new Set([SELF]) }) };

const known = new WeakMap<Composition, Composition>();

/** The same service in that version. */
export const withoutIndex = (composition: Composition): Composition => {
  const before = known.get(composition);
  if (before !== undefined) return before;
  const modules = composition.modules.map((module) =>
    module.slice?.name === indexing.name
      ? { ...module, slice: { ...indexing, ...older }, goOn: () => undefined }
      : module,
  );
  const made = composed(composition.all, modules, composition.versions);
  known.set(composition, made);
  return made;
};

export const isOfIndex = ({ table }: Write): boolean => table === "terms" || table === "indexed";

/** How far the index of an older disk is being made: the last ref that is in it; undefined where nothing is left. */
export const indexedUpTo = ({ modules }: PeerState): string | undefined =>
  (modules[indexing.name] as typeof indexing.empty | undefined)?.behind.get(SELF);
