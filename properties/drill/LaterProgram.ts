/**
 * The package of a later version, made from the one at hand: it speaks later versions of the protocol, one kind of row
 * and the effects of a registration have grown by a field, and so has the package's own number. No such version has
 * been released yet, so it is planted, as it is in the tests of the core (docs/decisions/0027-versions.md).
 */
import { cpSync } from "node:fs";
import { join } from "node:path";
import { NEWEST } from "../../core/codec/Versioned.ts";
import { edit, type Installed, install, installed, manifestOf, pack } from "./Package.ts";

/** The version next to that of this program. */
export const NEXT = NEWEST + 1;
/** Whoever speaks this version and the one before shares none with the next one. */
export const FAR = NEXT + 2;

const grown = [
  {
    file: "dist/core/commands/approvers/Tables.js",
    edits: [
      ["import { viewOf }", 'import { formsOf } from "../../codec/Versioned.js";\nimport { viewOf }'],
      [
        "keys: record({ id: text(Limits.approverIdCharacters) }),",
        `keys: formsOf(record({ id: text(Limits.approverIdCharacters) })).since(${NEXT},
           record({ id: text(Limits.approverIdCharacters), remark: nullable(text(8)) }),
           (older) => ({ ...older, remark: undefined })),`,
      ],
    ],
  },
  {
    file: "dist/core/commands/registerKey/RegisterKey.js",
    edits: [
      ["import { record } from", "import { record, uint } from"],
      ["import { kept } from", "import { formsOf, kept } from"],
      [
        "kept(record({ approver: approverCodec }))",
        `kept(formsOf(record({ approver: approverCodec })).since(${NEXT},
           record({ approver: approverCodec, pairs: uint }), (older) => ({ ...older, pairs: 0 })))`,
      ],
      ["        version,\n        approver:", "        version,\n        pairs: metadata.length,\n        approver:"],
    ],
  },
] as const;

const speaks = (folder: string, before: number, newest: number): void =>
  edit(join(folder, "dist/core/codec/Versioned.js"), `NEWEST = ${before};`, `NEWEST = ${newest};`);

/** Packs the next version and installs it below a folder, beside the present one. */
export const nextProgram = async (present: Installed, folder: string): Promise<Installed> => {
  const staged = join(folder, "staged");
  cpSync(present.package, staged, { recursive: true });
  for (const { file, edits } of grown) for (const [part, by] of edits) edit(join(staged, file), part, by);
  speaks(staged, NEWEST, NEXT);
  edit(join(staged, "package.json"), `"version": "${manifestOf(staged).version}"`, `"version": "${NEXT}.0.0"`);
  const name = await pack(staged, folder, "--ignore-scripts");
  const into = join(folder, "installed");
  await install(join(folder, name), into);
  return installed(into, join(folder, name));
};

/** A copy of the next version's installation that speaks versions which the present one has never heard of. */
export const farProgram = (next: Installed, folder: string): Installed => {
  cpSync(next.folder, folder, { recursive: true, verbatimSymlinks: true });
  const far = installed(folder, next.tarball);
  speaks(far.package, NEXT, FAR);
  return far;
};
