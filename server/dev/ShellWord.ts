/** One word of a POSIX shell command (IEEE Std 1003.1, 2.2.2), quoted only where it must be. */
export const shellWord = (text: string): string =>
  /^[A-Za-z0-9_@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;

/** A command line that a POSIX shell splits into exactly these words. */
export const shellCommand = (words: ReadonlyArray<string>): string => words.map(shellWord).join(" ");
