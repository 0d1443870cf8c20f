/**
 * What the parser of the command line finds wrong, in words that name the option. The library says of an option that is
 * there twice, or at the end without its value, that it is unknown, and of a number that is none not whose it is.
 */
import { type CliFailure, usageFailure } from "./CliFailure.ts";

const unknownArgument = /^Received unknown argument: '(--[a-z-]+)'$/;
const notOfType = /^'(.*)' is not a ([a-z]+)$/s;
const noSubcommand = /^Invalid subcommand for /;

const unknown = (option: string, args: ReadonlyArray<string>): string => {
  const at = args.flatMap((arg, index) => (arg === option ? [index] : []));
  if (at.length > 1) return `${option} is given more than once, or is no option of this command`;
  const next = args[(at[0] ?? args.length) + 1];
  return next === undefined || next.startsWith("--")
    ? `${option} is no option of this command, or has no value`
    : `${option} is no option of this command`;
};

const described = (text: string, args: ReadonlyArray<string>, words: ReadonlyArray<string>): string => {
  const [, option] = unknownArgument.exec(text) ?? [];
  if (option !== undefined) return unknown(option, args);
  const [, value, type] = notOfType.exec(text) ?? [];
  if (value !== undefined && type !== undefined) {
    const owner = args.find((arg, index) => arg.startsWith("--") && args[index + 1] === value);
    return `${owner === undefined ? "" : `${owner}: `}'${value}' is not ${/^[aeiou]/.test(type) ? "an" : "a"} ${type}`;
  }
  return noSubcommand.test(text) ? `custody ${words.join(" ")} is no command` : text;
};

/**
 * @param text what the library says, without colors; paragraphs where it finds several faults
 * @param args the arguments as it was given them, each value apart from its option
 * @param words those before the first option
 */
export const usageError = (text: string, args: ReadonlyArray<string>, words: ReadonlyArray<string>): CliFailure => {
  const faults = text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
  const [first] = words;
  const asked = noSubcommand.test(text) && first !== undefined ? [first] : words;
  return usageFailure(
    faults.map((fault) => described(fault, args, words)).join("\n"),
    `${["custody", ...asked, "--help"].join(" ")} shows what there is`,
  );
};
