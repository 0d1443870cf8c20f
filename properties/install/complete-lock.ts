/** `npm run lock:complete`: adds the entries that npm has left out of package-lock.json on this machine. */
import { readFileSync, writeFileSync } from "node:fs";
import { printLine } from "../../sim/bin/Script.ts";
import { type LockedPackages, lockedPackage, missingPackages } from "./LockFile.ts";

const FILE = "package-lock.json";

const lock = JSON.parse(readFileSync(FILE, "utf8")) as { packages: LockedPackages };
const missing = missingPackages(lock.packages);
const added = missing.map((each) => [`node_modules/${each.name}`, lockedPackage(each, lock.packages)] as const);
const { "": project, ...others } = lock.packages;
const sorted = Object.entries({ ...others, ...Object.fromEntries(added) }).toSorted(([one], [other]) =>
  // npm's own order.
  one.localeCompare(other, "en"),
);
const packages = { ...(project === undefined ? {} : { "": project }), ...Object.fromEntries(sorted) };
writeFileSync(FILE, `${JSON.stringify({ ...lock, packages }, undefined, 2)}\n`);
printLine(missing.length === 0 ? `${FILE} is complete.` : `${FILE}: ${missing.length} packages added.`);
