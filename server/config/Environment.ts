/** Overrides from the environment: `CUSTODY_` and the dotted path in upper snake case. */
import { Schema, SchemaAST } from "effect";
import type { ConfigProblem } from "./ConfigError.ts";
import { configSchema } from "./ConfigSchema.ts";

/** How the text of a variable becomes a value of the file. */
type SettingKind = "text" | "number" | "flag" | "list" | "peers";

/** One value of the configuration, by its keys from the root. */
export interface Setting {
  readonly path: ReadonlyArray<string>;
  readonly kind: SettingKind;
}

const prefix = "CUSTODY_";

/** Variables that belong to other parts of the product: the caller's token and the genesis secret. */
const reserved: ReadonlySet<string> = new Set(["CUSTODY_TOKEN", "CUSTODY_BOOTSTRAP_SECRET"]);

/** The variable that overrides a setting: `peer-http.tls.key` is `CUSTODY_PEER_HTTP_TLS_KEY`. */
export const variableName = (path: ReadonlyArray<string>): string =>
  prefix + path.join("_").replaceAll("-", "_").toUpperCase();

const kindOf = (ast: SchemaAST.AST): SettingKind => {
  if (SchemaAST.isBooleanKeyword(ast)) return "flag";
  if (SchemaAST.isNumberKeyword(ast)) return "number";
  if (!SchemaAST.isTupleType(ast)) return "text";
  return ast.rest.some((each) => SchemaAST.isTypeLiteral(each.type)) ? "peers" : "list";
};

const settingsBelow = (ast: SchemaAST.AST, path: ReadonlyArray<string>): ReadonlyArray<Setting> =>
  SchemaAST.isTypeLiteral(ast)
    ? ast.propertySignatures.flatMap((property) => settingsBelow(property.type, [...path, String(property.name)]))
    : [{ path, kind: kindOf(ast) }];

const requiredSections = (ast: SchemaAST.AST, path: ReadonlyArray<string>): ReadonlyArray<ReadonlyArray<string>> =>
  SchemaAST.isTypeLiteral(ast)
    ? ast.propertySignatures
        .filter((property) => !property.isOptional && SchemaAST.isTypeLiteral(property.type))
        .flatMap((property) => {
          const below = [...path, String(property.name)];
          return [below, ...requiredSections(property.type, below)];
        })
    : [];

const fileAst = Schema.encodedSchema(configSchema("/")).ast;

/** Every setting there is, in the order of the schema. */
export const settings: ReadonlyArray<Setting> = settingsBelow(fileAst, []);

/** Sections whose keys are all optional or required one by one, so that the section itself may be left out. */
const sections = requiredSections(fileAst, []);

type Mapping = { readonly [key: string]: unknown };

const isMapping = (value: unknown): value is Mapping =>
  typeof value === "object" && value !== null && !Array.isArray(value);

const entry = (mapping: Mapping, key: string): unknown => (Object.hasOwn(mapping, key) ? mapping[key] : undefined);

/** Puts a value at a path, opening sections that are missing or empty; leaves a value that is no section alone. */
const put = (root: unknown, path: ReadonlyArray<string>, change: (before: unknown) => unknown): unknown => {
  const [key, ...rest] = path;
  if (key === undefined) return change(root);
  const mapping = root ?? {};
  return isMapping(mapping) ? { ...mapping, [key]: put(entry(mapping, key), rest, change) } : mapping;
};

/** The parsed file with every section present: a section left out or left empty has only defaults. */
export const withSections = (file: unknown): unknown =>
  sections.reduce<unknown>((root, path) => put(root, path, (before) => before ?? {}), file ?? {});

const valueOf = (text: string, kind: SettingKind): unknown => {
  switch (kind) {
    case "text":
      return text;
    case "flag":
      return text === "true" ? true : text === "false" ? false : text;
    case "number":
      return /^[0-9]{1,15}(\.[0-9]{1,15})?$/.test(text) ? Number(text) : text;
    case "list":
      return listOf(text);
    case "peers":
      return listOf(text).map(peerOf);
  }
};

const listOf = (text: string): ReadonlyArray<string> => (text === "" ? [] : text.split(",").map((item) => item.trim()));

/** `2=https://host:7400` as the file would have it; anything else is left for the schema to refuse. */
const peerOf = (item: string): unknown => {
  const [, id, url] = /^([0-9]{1,15})=(.*)$/.exec(item) ?? [];
  return id === undefined ? item : { id: Number(id), url };
};

export interface Overridden {
  /** The file's content with the values of the environment in it. */
  readonly content: unknown;
  /** Dotted paths that came from the environment. */
  readonly overridden: ReadonlySet<string>;
  readonly problems: ReadonlyArray<ConfigProblem>;
}

/**
 * Applies the environment to the parsed file.
 *
 * Lists are separated by commas; an empty variable is an empty list and an
 * empty text. Peers are written `ID=URL`. A `CUSTODY_` variable that names no setting is a problem, but for
 * `CUSTODY_TOKEN` and `CUSTODY_BOOTSTRAP_SECRET`, which are read elsewhere.
 */
export const applyEnvironment = (file: unknown, env: Readonly<Record<string, string | undefined>>): Overridden => {
  const byName = new Map(settings.map((setting) => [variableName(setting.path), setting]));
  const overridden = new Set<string>();
  const problems: Array<ConfigProblem> = [];
  let content = file;
  for (const name of Object.keys(env).toSorted()) {
    const text = env[name];
    if (text === undefined || !name.startsWith(prefix) || reserved.has(name)) continue;
    const setting = byName.get(name);
    if (setting === undefined) {
      const message = "names no setting; unset it (in Kubernetes, enableServiceLinks: false keeps such variables out)";
      problems.push({ path: name.slice(0, 128), message });
      continue;
    }
    content = put(content, setting.path, () => valueOf(text, setting.kind));
    overridden.add(setting.path.join("."));
  }
  return { content, overridden, problems };
};
