/**
 * How many registration ceremonies one core verifies in a second, format by
 * format, beside `@simplewebauthn/server` on the same responses: from the text of
 * the credential to the verified key, with one trusted root for both.
 */
import { type ChildProcess, fork } from "node:child_process";
import { once } from "node:events";
import { extname } from "node:path";
import { fileURLToPath } from "node:url";
import { Encoding } from "effect";
import { androidKey, apple, packedCertified, root, tpm } from "../webauthn/Attestations.ts";
import { type AttestationFormat, makeCredential, none, packedSelf } from "../webauthn/Authenticator.ts";
import { median, rounded } from "./Statistics.ts";

export type VerifierName = "native" | "portable" | "library";

export const challenge = new Uint8Array(32).fill(9);
export const asked = { challenge, origin: "https://example.org", rpId: "example.org" };
const invitation = Encoding.encodeBase64Url(new Uint8Array(32));

/** Different keys and certificates, so that no verifier can remember one. */
const RESPONSES = 50;
/** So many processes of each, one after the other: two of one build differ by a tenth, by what they compile first. */
const PROCESSES = 3;
/**
 * In each process all are measured in turn, so many times, once they are warm; the slow portable one once. The library
 * gets faster for ten turns, ours for five: with few turns to warm up ours would look a tenth better than it is.
 */
const ROUNDS = 6;
const WARM_UP_ROUNDS = 10;

/** Made when they are measured: certificates are signed portably, which takes its time. */
const formats = {
  none: () => none,
  packedSelf: () => packedSelf,
  packed: () => packedCertified(),
  tpm: () => tpm(),
  // Android sends its root along.
  androidKey: () => androidKey({ behind: [root.certificate] }),
  apple: () => apple(),
};
export type CeremonyFormat = keyof typeof formats;
export const ceremonyFormats = Object.keys(formats) as ReadonlyArray<CeremonyFormat>;

const bodiesOf = (name: string, attestation: AttestationFormat): ReadonlyArray<string> =>
  Array.from({ length: RESPONSES }, (_, index) => {
    const credential = makeCredential({ ...asked, attestation, seed: `${name} ${index}` });
    return JSON.stringify({ invitation, credential });
  });

/** One verifier, in a process of its own. */
class Verifier {
  readonly #process: ChildProcess;
  readonly #ended: Promise<never>;

  constructor(name: VerifierName) {
    const script = fileURLToPath(new URL(`./CeremonyVerifier${extname(import.meta.url)}`, import.meta.url));
    this.#process = fork(script, [name], { stdio: ["ignore", "ignore", "inherit", "ipc"] });
    this.#ended = once(this.#process, "exit").then(([code]) => {
      throw new Error(`a verifying process ended with code ${code}`);
    });
    // Where no rate is awaited, the process's end is no error.
    this.#ended.catch(() => undefined);
  }

  /** How many of them it verifies in a second of a processor's time. Rejects when it refuses one, or ends. */
  async perSecond(bodies: ReadonlyArray<string>): Promise<number> {
    this.#process.send(bodies);
    const [rate] = await Promise.race([once(this.#process, "message"), this.#ended]);
    return Number(rate);
  }

  stop(): void {
    this.#process.kill();
  }
}

type Rates = { readonly [of in VerifierName | "overNative" | "overPortable"]: Array<number> };

/** Starts one process of each verifier, and adds up their results, taken in turn. */
const measureProcesses = async (bodies: ReadonlyArray<string>, rates: Rates): Promise<void> => {
  const [native, portable, library] = [new Verifier("native"), new Verifier("portable"), new Verifier("library")];
  try {
    for (let round = -WARM_UP_ROUNDS; round < ROUNDS; round += 1) {
      const byNative = await native.perSecond(bodies);
      const byLibrary = await library.perSecond(bodies);
      // Once to warm up, and once in the last turn.
      const isPortable = round === -1 || round === ROUNDS - 1;
      const byPortable = isPortable ? await portable.perSecond(bodies) : 0;
      if (round < 0) continue;
      rates.native.push(byNative);
      rates.library.push(byLibrary);
      rates.overNative.push(byNative / byLibrary);
      if (!isPortable) continue;
      rates.portable.push(byPortable);
      rates.overPortable.push(byPortable / byLibrary);
    }
  } finally {
    for (const each of [native, portable, library]) each.stop();
  }
};

/** The figures of one format: rates, and ours over theirs as the middle of each round's ratio, since the machine's speed drifts. */
const measureFormat = async (
  name: string,
  bodies: ReadonlyArray<string>,
): Promise<{ readonly [figure: string]: number }> => {
  const rates: Rates = { native: [], portable: [], library: [], overNative: [], overPortable: [] };
  for (let process = 0; process < PROCESSES; process += 1) await measureProcesses(bodies, rates);
  return {
    [`${name}PerSecond`]: rounded(median(rates.native), 0),
    [`${name}PortablePerSecond`]: rounded(median(rates.portable), 0),
    [`${name}LibraryPerSecond`]: rounded(median(rates.library), 0),
    [`${name}OverLibrary`]: rounded(median(rates.overNative), 2),
    [`${name}PortableOverLibrary`]: rounded(median(rates.overPortable), 1),
  };
};

/**
 * The figures by name.
 *
 * @param only the one format to measure; undefined for all
 */
export const measureCeremonies = async (
  only: CeremonyFormat | undefined,
): Promise<{ readonly [figure: string]: number }> => {
  const figures: { [figure: string]: number } = {};
  for (const name of only === undefined ? ceremonyFormats : [only])
    Object.assign(figures, await measureFormat(name, bodiesOf(name, formats[name]())));
  return figures;
};
