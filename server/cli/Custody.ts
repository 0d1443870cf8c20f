/** The `custody` command line: parses, runs one command, reports, and ends with its exit code. */
import { stripVTControlCharacters } from "node:util";
import * as CliConfig from "@effect/cli/CliConfig";
import * as Command from "@effect/cli/Command";
import * as CommandDescriptor from "@effect/cli/CommandDescriptor";
import * as HelpDoc from "@effect/cli/HelpDoc";
import { isValidationError } from "@effect/cli/ValidationError";
import { makeRunMain, type Teardown } from "@effect/platform/Runtime";
import * as NodeContext from "@effect/platform-node/NodeContext";
import { Array as Arr, Cause, Effect, Either, Exit, HashMap, HashSet } from "effect";
import { packageVersion } from "../config/Version.ts";
import { CliFailure, exitCodes, usageFailure } from "./CliFailure.ts";
import { withPlainConsole } from "./PlainConsole.ts";
import { printErrorLines, printFailure, writeWhole } from "./Output.ts";
import { secretInArguments } from "./SecretArguments.ts";
import { usageError } from "./UsageError.ts";

export interface CustodySettings<R, E, A> {
  /** The absolute path of the script that was started. */
  readonly entry: string;
  /** Loads `custody sim`. */
  readonly loadSim: () => Promise<Command.Command<"sim", R, E, A>>;
}

/**
 * The commands of peers and operators in the order of the help, each with the words that it begins with. Loading all
 * of them takes half as long again as loading one.
 */
const serverCommands = (entry: string) =>
  [
    { words: ["server"], load: async () => [(await import("./ServerCommand.ts")).serverCommand] },
    { words: ["config"], load: async () => [(await import("./ConfigCommands.ts")).configCommand] },
    { words: ["metrics"], load: async () => [(await import("./MetricsCommand.ts")).metricsCommand] },
    { words: ["openapi"], load: async () => [(await import("./OpenApiCommand.ts")).openApiCommand] },
    {
      words: ["init", "unseal", "rekey", "seal", "rotate-integrity"],
      load: async () => (await import("./SystemCommands.ts")).systemCommands,
    },
    { words: ["promote"], load: async () => [(await import("./PromoteCommand.ts")).promoteCommand] },
    { words: ["backup"], load: async () => [(await import("./BackupCommand.ts")).backupCommand] },
    { words: ["restore"], load: async () => [(await import("./RestoreCommand.ts")).restoreCommand] },
    { words: ["status"], load: async () => [(await import("./StatusCommand.ts")).statusCommand] },
    { words: ["doctor"], load: async () => [(await import("./DoctorCommand.ts")).doctorCommand] },
    { words: ["keys"], load: async () => [(await import("./KeyCommands.ts")).keyCommands] },
    {
      words: ["sign", "verify"],
      load: async () => {
        const { signCommand, verifyCommand } = await import("./SignCommands.ts");
        return [signCommand, verifyCommand];
      },
    },
    { words: ["approvers"], load: async () => [(await import("./ApproverCommands.ts")).approverCommands] },
    { words: ["policies"], load: async () => [(await import("./PolicyCommands.ts")).policyCommands] },
    { words: ["audit"], load: async () => [(await import("./AuditCommands.ts")).auditCommands] },
    {
      words: ["dev", "token"],
      load: async () => {
        const { devCommand, tokenCommand } = await import("./DevCommands.ts");
        return [devCommand(entry), tokenCommand];
      },
    },
  ] as const;

const root = Command.make("custody").pipe(Command.withDescription("Keys and approvers of a key custody cluster."));

const footer = HelpDoc.p(
  "Every command explains itself with --help. Also: --version, --completions bash|zsh|fish, --wizard. " +
    "Exit codes: 0 done, 1 refused by the service or found not to hold, 2 wrong usage, 3 could not reach the service, " +
    "4 outcome not known yet (do as the message says), 5 changed meanwhile by somebody else, " +
    "6 done, and its result not written.",
);

/** The words before the first option: the command and what it is about. */
const wordsOf = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const options = args.findIndex((arg) => arg.startsWith("-"));
  return options === -1 ? args : args.slice(0, options);
};

/**
 * Why the word after the first names no command; undefined where it does, or the first one has none below it. The
 * library would say what may stand for the first word, of which only that one is loaded.
 */
const misnamed = (
  [first = "", second]: ReadonlyArray<string>,
  commands: ReadonlyArray<{ readonly descriptor: CommandDescriptor.Command<unknown> }>,
): CliFailure | undefined => {
  const command = commands.find(({ descriptor }) => HashSet.has(CommandDescriptor.getNames(descriptor), first));
  if (command === undefined || second === undefined) return undefined;
  const below = CommandDescriptor.getSubcommands(command.descriptor);
  if (HashMap.has(below, first) || HashMap.has(below, second)) return undefined;
  const names = [...HashMap.keys(below)].toSorted().join(", ");
  return usageFailure(`custody ${first} has no such command; it has ${names}`);
};

/** What a shell completes are the words of all commands. */
const COMPLETIONS = "--completions";

/** Loads what the first word asks for, and everything for help on everything or a word that is no command. */
const loadRunner = async <R, E, A>(args: ReadonlyArray<string>, { entry, loadSim }: CustodySettings<R, E, A>) => {
  const app = { name: "custody", version: packageVersion(entry), footer };
  const [first] = args;
  const isAbout = (words: ReadonlyArray<string>): boolean =>
    words.some((word) => word === first) && !args.includes(COMPLETIONS);
  if (isAbout(["sim"])) {
    const sim = await loadSim();
    const fault = misnamed(wordsOf(args), [sim]);
    return fault === undefined
      ? Either.right(Command.run(Command.withSubcommands(root, [sim]), app))
      : Either.left(fault);
  }
  const parts = serverCommands(entry);
  const wanted = parts.find(({ words }) => isAbout(words));
  if (wanted !== undefined) {
    const [command, ...others] = await wanted.load();
    const all = Command.withSubcommands(root, [command, ...others]);
    const fault = misnamed(wordsOf(args), [command, ...others]);
    return fault === undefined ? Either.right(Command.run(all, app)) : Either.left(fault);
  }
  const commands = (await Promise.all(parts.map(({ load }) => load()))).flat();
  return Either.right(Command.run(Command.withSubcommands(root, Arr.append(commands, await loadSim())), app));
};

/** `--name=value` as two words: the library would misread a value that holds another `=`. */
const splitAssignments = (args: ReadonlyArray<string>): ReadonlyArray<string> => {
  const end = args.indexOf("--");
  return args.flatMap((arg, index) => {
    const equals = arg.indexOf("=");
    const splits = /^--[a-z-]+=/.test(arg) && (end === -1 || index < end);
    return splits ? [arg.slice(0, equals), arg.slice(equals + 1)] : [arg];
  });
};

const report =
  (json: boolean) =>
  (cause: Cause.Cause<unknown>): Effect.Effect<void> => {
    if (Cause.isInterruptedOnly(cause)) return Effect.void;
    const error = Cause.squash(cause);
    if (error instanceof CliFailure) return printFailure(error, json);
    const message = error instanceof Error ? error.message : "unknown";
    return printErrorLines([
      json ? JSON.stringify({ error: { kind: "internal", message } }) : `custody: internal error: ${message}`,
    ]);
  };

/**
 * The whole command line as an effect: parses, runs one command, and says on
 * standard error why it failed.
 *
 * @param args the words after the name of the command
 */
export const custodyProgram = <E, A>(
  settings: CustodySettings<NodeContext.NodeContext, E, A>,
  args: ReadonlyArray<string>,
): Effect.Effect<void, unknown> =>
  Effect.gen(function* () {
    const secret = secretInArguments(args);
    if (secret !== undefined) return yield* secret;
    if (args.includes("--wizard") && !process.stdin.isTTY)
      return yield* usageFailure("--wizard asks at a terminal, and standard input is none", "leave it out");
    const run = yield* yield* Effect.promise(() => loadRunner(args, settings));
    const given = args.length === 0 ? ["--help"] : splitAssignments(args);
    // The library drops two words, Node's and the script's; bare `custody` asks for help.
    yield* Effect.mapError(run(["node", "custody", ...given]), (error) =>
      isValidationError(error)
        ? usageError(stripVTControlCharacters(HelpDoc.toAnsiText(error.error)), given, wordsOf(args))
        : error,
    );
  }).pipe(
    Effect.provide(NodeContext.layer),
    Effect.provide(CliConfig.layer({ isCaseSensitive: true, showBuiltIns: false })),
    withPlainConsole(wordsOf(args)),
    Effect.tapErrorCause(report(args.includes("--json"))),
  );

/** The shell's code for a command that SIGINT ended. */
const interruptedCode = 130;
/** EX_SOFTWARE of sysexits.h: a fault of this program, not of its use. */
const internalCode = 70;

/** Commands for which being told to stop is a good end. */
const untilStopped = new Set(["server", "dev"]);

/** The exit code of a finished {@link custodyProgram}. */
export const exitCodeOf = (exit: Exit.Exit<unknown, unknown>, args: ReadonlyArray<string>): number => {
  if (Exit.isSuccess(exit)) return exitCodes.done;
  if (Cause.isInterruptedOnly(exit.cause)) return untilStopped.has(args[0] ?? "") ? exitCodes.done : interruptedCode;
  const error = Cause.squash(exit.cause);
  return error instanceof CliFailure ? exitCodes[error.kind] : internalCode;
};

/** What a signal means to a program that runs until it is stopped; a peer handles the latter two itself. */
const signalsOf = (args: ReadonlyArray<string>) => ({
  stopping: args[0] === "server" ? (["SIGINT", "SIGTERM"] as const) : (["SIGINT", "SIGTERM", "SIGHUP"] as const),
  ignored: args[0] === "server" ? (["SIGHUP", "SIGUSR2"] as const) : args[0] === "dev" ? (["SIGUSR2"] as const) : [],
});

/**
 * Runs an effect as the process. The first signal that stops interrupts it;
 * further ones change nothing: a terminal and npm both pass Ctrl-C on, and what
 * is being closed in order must not be cut short by the second.
 */
const runMainOf = (args: ReadonlyArray<string>) =>
  makeRunMain(({ fiber, teardown }) => {
    const { stopping, ignored } = signalsOf(args);
    const keepAlive = setInterval(() => undefined, 2 ** 31 - 1);
    const interrupt = (): void => fiber.unsafeInterruptAsFork(fiber.id());
    for (const signal of stopping) process.on(signal, interrupt);
    for (const signal of ignored) process.on(signal, () => undefined);
    fiber.addObserver((exit) => {
      clearInterval(keepAlive);
      teardown(exit, (code) => process.exit(code));
    });
  });

/** Runs the command line of this process and exits. */
export const runCustody = <E, A>(settings: CustodySettings<NodeContext.NodeContext, E, A>): void => {
  const args = process.argv.slice(2);
  writeWhole(process.stdout);
  // Each write says itself what became of it.
  for (const stream of [process.stdout, process.stderr]) stream.on("error", () => undefined);
  const teardown: Teardown = (exit, onExit) => onExit(exitCodeOf(exit, args));
  runMainOf(args)(custodyProgram(settings, args), { teardown, disableErrorReporting: true });
};
