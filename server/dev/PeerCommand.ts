/** How this very program is started again, from a checkout or from the built package. */
import type { DevFolder } from "./DevFolder.ts";

/** Source needs the TypeScript loader, by its full address: the command must work from any folder. */
const loaderArguments = (entry: string): ReadonlyArray<string> =>
  entry.endsWith(".ts") ? ["--import", import.meta.resolve("tsx")] : [];

/**
 * The words of a command of this program.
 *
 * @param entry the absolute path of the `custody` script
 */
export const custodyCommand = (entry: string, ...words: ReadonlyArray<string>): readonly [string, ...Array<string>] => [
  process.execPath,
  ...loaderArguments(entry),
  entry,
  ...words,
];

/** The words of the command that runs a peer in the foreground. */
export const peerCommand = (entry: string, folder: DevFolder, id: number): readonly [string, ...Array<string>] =>
  custodyCommand(entry, "server", "--config", folder.peer(id).config, "--dev-secrets", folder.secrets);
