/** What a program can do as callers are told it (contract 2.7): what its modules supply, put together. */
import type { Module } from "./Module.ts";

/** What one module adds. Cryptographic platforms are no features. */
export interface Supplies {
  /** The feature's id; one within another keeps its path, as `parent:child`. */
  readonly feature: string;
  /** The types of authority that it judges, such as `evm.transaction`. */
  readonly authorities: ReadonlyArray<string>;
}

type Loaded = ReadonlyArray<Pick<Module, "supplies">>;

/** What is there whatever modules are. */
const CORE = "core";
const CUSTOM = "custom";
/** The one type that the configuration switches, so no module brings it in. */
const ARBITRARY = "arbitrary";

const featureId = /^[a-z0-9]+(?:-[a-z0-9]+)*(?::[a-z0-9]+(?:-[a-z0-9]+)*)*$/;
const authorityType = /^[a-z0-9]+(?:[.-][a-z0-9]+)*$/;

const suppliesOf = (modules: Loaded): ReadonlyArray<Supplies> =>
  modules.flatMap(({ supplies }) => (supplies === undefined ? [] : [supplies]));

const sortedSet = (names: ReadonlyArray<string>): ReadonlyArray<string> => [...new Set(names)].toSorted();

/** The ids of the loaded modules' features, sorted and unique, `core` among them. */
export const featuresOf = (modules: Loaded): ReadonlyArray<string> =>
  sortedSet([CORE, ...suppliesOf(modules).map(({ feature }) => feature)]);

/** The types of authority that the loaded modules judge, sorted and unique: `custom`, and `arbitrary` where enabled. */
export const authoritiesOf = (modules: Loaded, enabled: { readonly arbitrary: boolean }): ReadonlyArray<string> =>
  sortedSet([
    CUSTOM,
    ...(enabled.arbitrary ? [ARBITRARY] : []),
    ...suppliesOf(modules).flatMap(({ authorities }) => authorities),
  ]);

/** Throws where a module supplies something of a name that callers cannot be told. */
export const checkSupplies = (modules: Loaded): void => {
  for (const { feature, authorities } of suppliesOf(modules)) {
    if (!featureId.test(feature)) throw new TypeError(`no feature may be called ${feature}`);
    const bad = authorities.find((type) => type === ARBITRARY || !authorityType.test(type));
    if (bad !== undefined) throw new TypeError(`the feature ${feature} may not judge the authority type ${bad}`);
  }
};
