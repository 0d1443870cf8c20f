/**
 * The entries of package-lock.json for packages that exist once per platform. npm leaves out those that a registry does
 * not offer to the machine it runs on, and `npm ci` then fails everywhere, or installs nothing for the platforms left
 * out. Nothing here asks a registry.
 */

/** One entry of `packages`, as far as it matters here. */
export interface LockedPackage {
  readonly version?: string;
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly os?: ReadonlyArray<string>;
  readonly cpu?: ReadonlyArray<string>;
  readonly libc?: ReadonlyArray<string>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

/** Entries by their path below the project's folder; the project itself is "". */
export type LockedPackages = Readonly<Record<string, LockedPackage>>;

/** An optional package that some entry names and that has no entry. */
export interface MissingPackage {
  readonly name: string;
  /** The version that its dependent asks for; platform packages are asked for by one exact version. */
  readonly version: string;
  readonly dependent: string;
}

const FOLDER = "node_modules/";

/** Where Node would look for `name` from the package at `path`, nearest first. */
const places = (path: string, name: string): ReadonlyArray<string> => {
  const parents = path.split(`/${FOLDER}`);
  const found = parents.map((_, index) => `${parents.slice(0, index + 1).join(`/${FOLDER}`)}/${FOLDER}${name}`);
  return path === "" ? [`${FOLDER}${name}`] : [...found.toReversed(), `${FOLDER}${name}`];
};

/** Every optional dependency that the lock names and does not contain, sorted by name. */
export const missingPackages = (packages: LockedPackages): ReadonlyArray<MissingPackage> =>
  Object.entries(packages)
    .flatMap(([dependent, { optionalDependencies = {} }]) =>
      Object.entries(optionalDependencies)
        .filter(([name]) => places(dependent, name).every((place) => packages[place] === undefined))
        .map(([name, version]) => ({ name, version, dependent })),
    )
    .toSorted((one, other) => (one.name < other.name ? -1 : 1));

const SYSTEMS = ["android", "darwin", "freebsd", "linux", "netbsd", "openbsd", "openharmony", "win32"];
const PROCESSORS = ["arm", "arm64", "ia32", "loong64", "ppc64", "riscv64", "s390x", "x64"];
const LIBRARIES: Readonly<Record<string, string>> = { gnu: "glibc", musl: "musl" };

/**
 * The platform that a package's name ends in, in npm's words: `@rollup/rollup-linux-x64-musl` is for linux, x64 and
 * musl. Throws where the name has none: a person must look at that package.
 */
export const platformOf = (name: string): Required<Pick<LockedPackage, "os" | "cpu">> & LockedPackage => {
  const words = name.split(/[/-]/);
  const at = words.findLastIndex((word) => SYSTEMS.includes(word));
  const [os, cpu, suffix] = words.slice(at);
  if (at < 0 || os === undefined || cpu === undefined || !PROCESSORS.includes(cpu))
    throw new Error(`The name ${name} does not say which platform it is for.`);
  const libc = os === "linux" && suffix !== undefined ? LIBRARIES[suffix] : undefined;
  return { os: [os], cpu: [cpu], ...(libc === undefined ? {} : { libc: [libc] }) };
};

/** npm's own entry for a package it could not ask for, with the platform that keeps it from being installed here. */
export const lockedPackage = (
  { name, version, dependent }: MissingPackage,
  packages: LockedPackages,
): LockedPackage => ({
  version,
  ...platformOf(name),
  ...(packages[dependent]?.dev === true ? { dev: true } : {}),
  optional: true,
});
