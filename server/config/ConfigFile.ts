/** Loads the configuration of one peer: file, then environment, then the schema, all problems at once. */
import { dirname, resolve } from "node:path";
import { Effect, Either, ParseResult, Schema } from "effect";
import { readBoundedText } from "./BoundedFile.ts";
import { ConfigError, type ConfigProblem, configError } from "./ConfigError.ts";
import { type Config, configSchema } from "./ConfigSchema.ts";
import { applyEnvironment, type Overridden, settings, variableName, withSections } from "./Environment.ts";
import { parseStrictYaml } from "./StrictYaml.ts";

/** The longest configuration file, in bytes. */
const maxFileBytes = 256 * 1024;

/** A key as it may be shown: plain ones as they are, others quoted, long ones cut. */
const shownKey = (key: PropertyKey): string => {
  const text = String(key).slice(0, 64);
  return /^[A-Za-z0-9_-]+$/.test(text) ? text : JSON.stringify(text);
};

const notASection = "must be a mapping of keys; indent its keys below it";
const notAPeer = "must be ID=URL, several separated by commas; write it as 2=https://peer2.example:7400";

/** The keys allowed where an unknown one stands. */
const keysAt = (path: ReadonlyArray<string>): string => {
  const here = settings
    .filter((setting) => path.every((key, index) => setting.path[index] === key))
    .map((setting) => setting.path[path.length]);
  return [...new Set(here)].filter((key) => key !== undefined).join(", ");
};

const problemOf = (issue: ParseResult.ArrayFormatterIssue, overridden: ReadonlySet<string>): ConfigProblem => {
  const keys = issue.path.map(String);
  const dotted = issue.path.map(shownKey).join(".");
  // Of a list from the environment, single entries are refused too.
  const parents = keys.map((_, index) => keys.slice(0, index + 1).join("."));
  const setting = settings.find(({ path }) => overridden.has(path.join(".")) && parents.includes(path.join(".")));
  const source = setting === undefined ? "" : ` (from ${variableName(setting.path)})`;
  const path = dotted === "" ? "the file" : dotted + source;
  if (issue._tag === "Unexpected") {
    return { path, message: `unknown key; remove it or use one of ${keysAt(keys.slice(0, -1))}` };
  }
  if (issue._tag === "Missing") {
    return { path, message: `is required; set it in the file or as ${variableName(keys)}` };
  }
  // The library's own sentence quotes the value; a section is the one part that has no sentence of ours.
  const ownWords = setting?.kind === "peers" ? notAPeer : notASection;
  const message = issue.message.startsWith("Expected ") ? ownWords : issue.message;
  return { path, message };
};

const decodeConfig = (directory: string, { content, overridden, problems }: Overridden) =>
  Either.match(Schema.decodeUnknownEither(configSchema(directory), decodeOptions)(withSections(content)), {
    onLeft: (error) => {
      const issues = ParseResult.ArrayFormatter.formatErrorSync(error);
      return Effect.fail(
        new ConfigError({ problems: [...problems, ...issues.map((issue) => problemOf(issue, overridden))] }),
      );
    },
    onRight: (config) => (problems.length === 0 ? Effect.succeed(config) : Effect.fail(new ConfigError({ problems }))),
  });

const decodeOptions = { errors: "all", onExcessProperty: "error" } as const;

/**
 * The configuration in a YAML file of at most 256 KiB, with values from the
 * environment in their place. Names of files inside are made absolute, from the
 * folder of `file`; none of them is opened.
 *
 * Fails with a {@link ConfigError} that names every problem it found.
 */
export const loadConfig = (
  file: string,
  env: Readonly<Record<string, string | undefined>>,
): Effect.Effect<Config, ConfigError> =>
  Effect.gen(function* () {
    const path = resolve(file);
    const text = yield* readBoundedText(path, { maxBytes: maxFileBytes, secret: false }).pipe(
      Effect.mapError((fault) => configError("--config", fault.message)),
    );
    const content = yield* Either.mapLeft(parseStrictYaml(text), (message) => configError(path, message));
    return yield* decodeConfig(dirname(path), applyEnvironment(content, env));
  });
