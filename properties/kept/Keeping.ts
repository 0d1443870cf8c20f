/**
 * Files kept of every version, in a folder of its number, written by the programs of that version and never again: the
 * data folder of a peer with its unseal shares, which protect nothing but this test; a tape; and one encoding of every
 * row and message.
 */
import { chmodSync, copyFileSync, cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { Either } from "effect";
import { sourceCommit } from "../../sim/bin/SourceCommit.ts";
import { formatTape, parseTape } from "../../sim/tape/TapeFormat.ts";
import { play, tapeOf } from "../../sim/tape/TapeRun.ts";
import { Enrollees, enrollingElsewhere } from "../http/Enrollment.ts";
import { registration, ServerCluster } from "../http/ServerCluster.ts";
import { samples, type Samples } from "./Samples.ts";

/** Files of a data folder; any others there say who holds it, and are made anew. */
const files = ["custody.db", "custody.initialized", "operators.log"];
/** The bug whose tape is played and written down again. */
const PLAYED = new URL("../tapes/lost-acknowledgements.tape", import.meta.url);

interface KeptPeer {
  readonly shares: ReadonlyArray<string>;
  /** What it showed for each ref. */
  readonly reads: ReadonlyArray<{ readonly ref: string; readonly text: string }>;
}

const peerFile = (folder: string): string => join(folder, "peer.json");
const samplesFile = (folder: string): string => join(folder, "samples.json");
const tapeFile = (folder: string): string => join(folder, "run.tape");

const json = (value: object): string => `${JSON.stringify(value, undefined, 2)}\n`;

/** A peer alone with keys, a passkey, an open session, two integrity keys, and what operators did while it was sealed. */
const keepPeer = async (folder: string): Promise<void> => {
  const cluster = await ServerCluster.found(1, enrollingElsewhere());
  try {
    const enrollees = new Enrollees(cluster);
    const made = [await cluster.register(1, registration("first", undefined, { team: "a", "with space": "ü" }))];
    const offer = await enrollees.options(1, { id: "holder" });
    await cluster.post(1, "/v1/custody/system/integrity/rotate", {});
    const { invitation } = offer;
    made.push(await enrollees.finish(1, { invitation, credential: enrollees.credential(offer, "kept") }));
    made.push(await cluster.register(1, registration("second")));
    await enrollees.options(1, { id: "nobody" });
    const wrong = made.find(({ status }) => status !== 201);
    if (wrong !== undefined) throw new Error(wrong.text);
    const reads = [];
    for (const { json: record } of made) {
      const ref = String(record["ref"]);
      reads.push({ ref, text: (await cluster.read(1, ref)).text });
    }
    const { dataDir, shares } = cluster.member(1);
    await cluster.post(1, "/v1/custody/system/seal", {});
    await cluster.post(1, "/v1/custody/system/unseal", { share64: shares[0] });
    await cluster.stop(1);
    for (const file of files) copyFileSync(join(dataDir, file), join(folder, file));
    const peer: KeptPeer = { shares, reads };
    writeFileSync(peerFile(folder), json(peer));
  } finally {
    await cluster.close();
  }
};

const keepTape = (folder: string): void => {
  const played = play(Either.getOrThrow(parseTape(readFileSync(PLAYED))));
  writeFileSync(tapeFile(folder), formatTape(tapeOf(played, { commit: sourceCommit(), sparse: true })));
};

/** Writes all of it into a folder that is not there yet. */
export const keep = async (folder: string): Promise<void> => {
  mkdirSync(folder);
  try {
    await keepPeer(folder);
    keepTape(folder);
    writeFileSync(samplesFile(folder), json(samples()));
  } catch (fault) {
    rmSync(folder, { recursive: true });
    throw fault;
  }
};

export const keptPeer = (folder: string): KeptPeer => JSON.parse(readFileSync(peerFile(folder), "utf8"));
export const keptSamples = (folder: string): Samples => JSON.parse(readFileSync(samplesFile(folder), "utf8"));
export const keptTape = (folder: string): Uint8Array => readFileSync(tapeFile(folder));

/** A copy of the data folder that a peer can be started on; an earlier copy is removed. */
export const copyTo = (folder: string, dataDir: string): void => {
  rmSync(dataDir, { recursive: true, force: true });
  mkdirSync(dataDir, { mode: 0o700 });
  for (const file of readdirSync(folder).filter((name) => files.includes(name))) {
    cpSync(join(folder, file), join(dataDir, file));
    chmodSync(join(dataDir, file), 0o600);
  }
};
