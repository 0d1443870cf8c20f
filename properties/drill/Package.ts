/** The package as `npm pack` makes it, and as an operator installs it into an empty folder. */
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { Failed, must, mustRun, run } from "./Programs.ts";

const BINDING = "better_sqlite3.node";

export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly files: ReadonlyArray<string>;
  readonly bin: { readonly custody: string };
}

export const manifestOf = (folder: string): Manifest => JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));

/** What npm puts into every package beside `files`. */
const ALWAYS = ["package.json", "README.md", "LICENSE"];
/** What no package may hold: tests, types' sources, keys, databases, anything made by running it. */
const NEVER =
  /\.test\.|\.ts$|\.map$|\.(?:key|pem|p12|db|tgz|tape|secret|token)$|(?:^|\/)(?:\.|node_modules|properties)/;
/** An example of a generated client, for those who write theirs in TypeScript. */
const EXAMPLES = ["docs/client.ts"];
const PRIVATE_KEY = /-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----\n/;

/** What of a package's files should not be in it, and what is promised and missing. */
export const faultsOf = (files: ReadonlyArray<string>, { files: promised }: Pick<Manifest, "files">): string[] => {
  const wanted = [...promised, ...ALWAYS];
  const isWanted = (file: string): boolean => wanted.some((each) => file === each || file.startsWith(`${each}/`));
  return [
    ...files.filter((file) => !isWanted(file)).map((file) => `${file} is in it, and no entry of files has it`),
    ...files
      .filter((file) => NEVER.test(file) && !EXAMPLES.includes(file))
      .map((file) => `${file} has no business in a package`),
    ...wanted
      .filter((each) => !files.some((file) => file === each || file.startsWith(`${each}/`)))
      .map((each) => `${each} is promised and not in it`),
  ];
};

/** Files below a folder, by their path from it. */
const filesBelow = (folder: string): ReadonlyArray<string> =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((each) => each.isFile())
    .map((each) => join(each.parentPath, each.name).slice(folder.length + 1));

/** Makes the tarball of a folder's package in another folder, and returns its name. */
export const pack = async (folder: string, into: string, ...more: ReadonlyArray<string>): Promise<string> => {
  const printed = await mustRun(["npm", "pack", "--silent", "--pack-destination", into, ...more], { cwd: folder });
  return printed.trim().split("\n").at(-1) ?? "";
};

/**
 * The archive in which `better-sqlite3` looks for a binding before it compiles one: with the binding that this checkout
 * has, which was built from the same version. Compiling it again takes a minute and shows nothing about this package.
 */
const bindingArchive = async (folder: string): Promise<Readonly<Record<string, string>>> => {
  const home = dirname(createRequire(import.meta.url).resolve("better-sqlite3/package.json"));
  const { version }: { readonly version: string } = JSON.parse(readFileSync(join(home, "package.json"), "utf8"));
  const release = join(folder, "build/Release");
  mkdirSync(release, { recursive: true });
  copyFileSync(join(home, "build/Release", BINDING), join(release, BINDING));
  const { modules } = process.versions;
  const name = `better-sqlite3-v${version}-node-v${modules}-${process.platform}-${process.arch}.tar.gz`;
  await mustRun(["tar", "-czf", name, "build"], { cwd: folder });
  return { npm_config_better_sqlite3_local_prebuilds: folder };
};

/**
 * Installs a tarball as docs/operations.md says, where npm holds install scripts back: allowing that of
 * `better-sqlite3` alone. Returns the folder of the installed package.
 */
export const install = async (tarball: string, into: string): Promise<string> => {
  mkdirSync(into, { recursive: true });
  const env = await bindingArchive(mkdtempSync(join(into, ".binding-")));
  const how = ["--prefer-offline", "--ignore-scripts", "--no-audit", "--no-fund", "--prefix", into];
  await mustRun(["npm", "install", ...how, tarball], { cwd: into, env });
  await mustRun(["npm", "rebuild", "better-sqlite3"], { cwd: into, env });
  return join(into, "node_modules/custody");
};

export interface Installed {
  /** The folder in which it was installed. */
  readonly folder: string;
  readonly package: string;
  /** The command, as npm links it. */
  readonly custody: string;
  /** The file that it runs. */
  readonly program: string;
  readonly tarball: string;
}

/** An installation in a folder. */
export const installed = (folder: string, tarball: string): Installed => {
  const home = join(folder, "node_modules/custody");
  const { bin } = manifestOf(home);
  return {
    folder,
    package: home,
    custody: join(folder, "node_modules/.bin/custody"),
    program: join(home, bin.custody),
    tarball,
  };
};

/** Builds, packs and installs the package of a checkout below a folder, and looks at what is in it. */
export const packAndInstall = async (checkout: string, folder: string): Promise<Installed> => {
  mkdirSync(folder, { recursive: true });
  const name = await pack(checkout, folder);
  const manifest = manifestOf(checkout);
  must(name === `custody-${manifest.version}.tgz`, `npm pack made ${name}`);
  const home = join(folder, "installed");
  const own = await install(join(folder, name), home);
  const files = filesBelow(own);
  const faults = faultsOf(files, manifest);
  must(faults.length === 0, `the package is not what it should be: ${faults.join("; ")}`);
  const withKeys = files.filter((file) => PRIVATE_KEY.test(readFileSync(join(own, file), "utf8")));
  must(withKeys.length === 0, `there is a private key in ${withKeys.join(", ")}`);
  const made = installed(home, join(folder, name));
  const version = await mustRun([made.custody, "--version"], { cwd: folder });
  must(version.trim() === manifest.version, `custody --version says ${version}`);
  const help = await mustRun([made.custody, "--help"], { cwd: folder });
  for (const word of ["custody server", "custody approvers register", "custody sim run"])
    must(help.includes(word.slice("custody ".length)), `custody --help does not tell of \`${word}\``);
  const wrong = await run([made.custody, "sing"], { cwd: folder });
  must(wrong.code === 2, `custody sing ended with ${wrong.code}, not with 2`);
  return made;
};

/** Replaces a part of a file that is there exactly once; the file's other links keep their content. */
export const edit = (file: string, part: string, by: string): void => {
  const text = readFileSync(file, "utf8");
  if (text.split(part).length !== 2) throw new Failed(`${file} does not have exactly once: ${part}`);
  const unfinished = `${file}.new`;
  writeFileSync(
    unfinished,
    text.replace(part, () => by),
  );
  renameSync(unfinished, file);
};
