/** What `npm run` has beside the product's commands: one way to read arguments, show help and end. */
import { parseArgs, type ParseArgsConfig } from "node:util";

type Options = NonNullable<ParseArgsConfig["options"]>;
type Values<O extends Options> = ReturnType<typeof parseArgs<{ readonly options: O }>>["values"];

export interface Script<O extends Options> {
  /** All that `--help` prints. */
  readonly help: string;
  /** As `parseArgs` of Node takes them; `--help` comes by itself. */
  readonly options: O;
  /** Does what is asked and returns the exit code. Throws {@link Misuse} where an argument makes no sense. */
  readonly main: (values: Values<O>) => number | Promise<number>;
}

/** The command line is wrong; the message names the argument. */
export class Misuse extends Error {}

/** A whole number from 1 below ten million. Throws {@link Misuse} for any other text. */
export const positive = (text: string, option: string): number => {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new Misuse(`--${option} must be a whole number from 1`);
  return Number(text);
};

/** Writes one line to standard output. */
export const printLine = (line: string): void => void process.stdout.write(`${line}\n`);

const HELP = { help: { type: "boolean" } } as const;

const given = <O extends Options>(options: O) => {
  try {
    return parseArgs({ options: { ...options, ...HELP } }).values;
  } catch (fault) {
    throw new Misuse(fault instanceof Error ? fault.message : "the arguments cannot be read");
  }
};

/** Runs one and sets the exit code: that of {@link Script.main}, or 2 with the help where it is misused. */
export const runScript = async <O extends Options>({ help, options, main }: Script<O>): Promise<void> => {
  try {
    const values = given(options);
    if ("help" in values && values.help === true) process.stdout.write(help);
    else process.exitCode = await main(values as Values<O>);
  } catch (fault) {
    if (!(fault instanceof Misuse)) throw fault;
    process.stderr.write(`${fault.message}\n${help}`);
    process.exitCode = 2;
  }
};
