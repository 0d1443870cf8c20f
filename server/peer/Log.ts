/** One line of JSON for each event. Fields are chosen by the caller: never a token, a share, a key or a body. */
import type { Config } from "../config/ConfigSchema.ts";

export type LogLevel = Config["peer"]["logLevel"];
export type LogFields = { readonly [name: string]: string | number | boolean | undefined };

export type Log = { readonly [L in LogLevel]: (event: string, fields?: LogFields) => void };

/** A log whose least level can be changed while it is in use. */
export interface LevelledLog extends Log {
  readonly setLevel: (least: LogLevel) => void;
}

const ranks: { readonly [L in LogLevel]: number } = { debug: 0, info: 1, warn: 2, error: 3 };

/**
 * A log that drops what is below `least`.
 *
 * @param write takes one line with its newline
 * @param now Unix milliseconds
 */
export const jsonLog = (least: LogLevel, write: (line: string) => void, now: () => number): LevelledLog => {
  let rank = ranks[least];
  const at =
    (level: LogLevel) =>
    (event: string, fields: LogFields = {}): void => {
      if (ranks[level] < rank) return;
      write(`${JSON.stringify({ time: new Date(now()).toISOString(), level, event, ...fields })}\n`);
    };
  const setLevel = (level: LogLevel): void => {
    rank = ranks[level];
  };
  return { debug: at("debug"), info: at("info"), warn: at("warn"), error: at("error"), setLevel };
};
