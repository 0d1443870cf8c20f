/**
 * The parts of one version of the service: commands and modules, and with them everything that is stored and said. Made
 * once, from two lists (core/commands/Commands.ts), and handed to agreement, stores and envelopes.
 */
import { type Codec, referring, union } from "../codec/Codec.ts";
import { formsFor, type Forms, writtenIn } from "../codec/Versioned.ts";
import type { Command, Commands, Contents } from "./Command.ts";
import { isOfModule, type Message, protocolMessages, tokensOf } from "./Message.ts";
import type { MessagePart, Module } from "./Module.ts";
import { checkSupplies } from "./Supplies.ts";
import { protocolTables, type Tables } from "./Tables.ts";
import { VERSIONS, type Versions } from "./Versions.ts";

/** Every table, and the form of its rows. */
export interface Schema {
  readonly names: ReadonlyArray<string>;
  /** The newest version of rows that can be read; rows are written in it. */
  readonly newest: number;
  codecOf(table: string): Codec<unknown>;
}

export interface Composition extends Commands {
  readonly tables: Schema;
  /** The first version that has messages of this kind. */
  firstOf(message: Message): number;
  /** The messages of a version spoken here, as values of the newest one. */
  messagesIn(version: number): Codec<Message>;
  /** The bearer tokens in a message, in the order in which its handler expects the results of checking them. */
  tokensIn(message: Message): ReadonlyArray<string>;
}

/** Throws where two parts claim one name. */
const named = <A>(what: string, all: ReadonlyArray<readonly [string, A]>): ReadonlyMap<string, A> => {
  const byName = new Map(all);
  if (byName.size < all.length) throw new TypeError(`two parts have a ${what} of the same name`);
  return byName;
};

// A table's entry is one codec, or several versions of one; its module knows which.
const formsIn = (what: object): Forms<unknown> => formsFor(what as Codec<unknown> | Forms<unknown>);

const schemaOf = (parts: ReadonlyArray<Tables>, newest: number): Schema => {
  const codecs = named(
    "table",
    parts.flatMap((tables) =>
      Object.entries(tables).map(([table, what]) => [table, writtenIn(newest, formsIn(what))] as const),
    ),
  );
  return {
    newest,
    names: [...codecs.keys()],
    codecOf: (table) => {
      const codec = codecs.get(table);
      if (codec === undefined) throw new TypeError(`there is no table ${table}`);
      return codec;
    },
  };
};

/** The entries that the registry root covers, module by module: a key is the module's name and the entry's own. */
const contentsOf = (modules: ReadonlyArray<Module>): Contents => {
  const parts = modules.flatMap(({ name, contents }) => (contents === undefined ? [] : [{ name, contents }]));
  return (crypto, view, after, limit) => {
    const end = after.indexOf("/");
    const begun = parts.findIndex(({ name }) => name === after.slice(0, Math.max(0, end)));
    const page = [];
    for (let at = Math.max(0, begun); at < parts.length && page.length < limit; at++) {
      const { name, contents } = parts[at] ?? {};
      const from = at === begun ? after.slice(end + 1) : "";
      for (const entry of contents?.(crypto, view, from, limit - page.length) ?? [])
        page.push({ ...entry, key: `${name}/${entry.key}` });
    }
    return page;
  };
};

/** From this version on, what a message repeats is written once: the statements of a round share most of their bytes. */
const REFERRING_SINCE = 2;

/** By version, from the lowest that is spoken. A message's number is its place among those of its version. */
const messagesOf = (messages: ReadonlyArray<readonly [tag: string, what: object]>, { lowest, highest }: Versions) =>
  Array.from({ length: highest - lowest + 1 }, (_, place): Codec<unknown> => {
    const version = lowest + place;
    const said = messages
      .map(([tag, what]) => [tag, formsIn(what)] as const)
      .filter(([, { first }]) => first <= version);
    const codec = union(Object.fromEntries(said.map(([tag, forms]) => [tag, forms.at(version)]))) as Codec<unknown>;
    return version < REFERRING_SINCE ? codec : referring(codec);
  });

export const composed = (
  all: ReadonlyArray<Command>,
  modules: ReadonlyArray<Module>,
  versions = VERSIONS,
): Composition => {
  checkSupplies(modules);
  const parts: ReadonlyMap<string, MessagePart> = named(
    "message",
    modules.flatMap(({ messages }) => Object.entries(messages)),
  );
  const codecs = [...parts].map(([tag, { codec }]) => [tag, codec] as const);
  const kinds = [...Object.entries(protocolMessages), ...codecs];
  const messages = messagesOf(kinds, versions);
  const firsts = new Map(kinds.map(([tag, what]) => [tag, formsIn(what).first]));
  named(
    "slice",
    modules.flatMap(({ slice }) => (slice === undefined ? [] : [[slice.name, slice] as const])),
  );
  return {
    all,
    modules,
    versions,
    byKind: named(
      "command",
      all.map((command) => [command.kind, command]),
    ),
    exchanges: named(
      "exchange",
      modules.flatMap(({ exchanges }) => exchanges.map((each) => [each.kind, each] as const)),
    ),
    services: modules.flatMap(({ services }) => services),
    contents: contentsOf(modules),
    tables: schemaOf([protocolTables, ...modules.map(({ tables }) => tables)], versions.highest),
    firstOf: ({ _tag }) => firsts.get(_tag) ?? versions.lowest,
    messagesIn: (version) => {
      const codec = messages[version - versions.lowest];
      if (codec === undefined) throw new RangeError(`version ${version} is not spoken`);
      return codec as Codec<Message>;
    },
    tokensIn: (message) =>
      isOfModule(message) ? (parts.get(message._tag)?.tokensIn(message) ?? []) : tokensOf(message),
  };
};
