/** Three commands to try a development cluster with. */
import { createHash, generateKeyPairSync } from "node:crypto";
import { approverRef } from "../../core/credential/ApproverRef.ts";
import { descriptorJson, refDigest } from "../../core/credential/SignatureCredential.ts";
import type { Cluster } from "./ClusterFile.ts";
import type { DevFolder } from "./DevFolder.ts";
import { httpUrl } from "./PeerConfigFile.ts";
import { shellWord } from "./ShellWord.ts";

/** An Ed25519 SubjectPublicKeyInfo ends with its 32 key bytes (RFC 8410 section 4). */
const keyBytes = 32;

const freshKey64 = (): string =>
  generateKeyPairSync("ed25519")
    .publicKey.export({ format: "der", type: "spki" })
    .subarray(-keyBytes)
    .toString("base64");

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

/**
 * Three curl commands: register a fresh key through the third peer, read it from
 * the first, see the configuration. They may be pasted into a POSIX shell in any
 * folder and any number of times; the token stays in its file.
 */
export const exampleCommands = (folder: DevFolder, { peers }: Cluster): ReadonlyArray<string> => {
  const first = peers[0];
  const entry = peers[2] ?? peers.at(-1) ?? first;
  const id = "example";
  const credential = { type: "SIGNATURE", algorithm: "ED25519", publicKey64: freshKey64() } as const;
  const ref = approverRef(id, refDigest(sha256, descriptorJson(credential)));
  const curl = `curl -sS -H ${shellWord(`@${folder.operatorHeader}`)}`;
  const body = shellWord(JSON.stringify({ id, credential, metadata: { made: "by custody dev" } }));
  return [
    `${curl} -H 'content-type: application/json' -d ${body} ${httpUrl(entry)}/v1/custody/approvers`,
    `${curl} ${httpUrl(first)}/v1/custody/approvers/${encodeURIComponent(ref)}`,
    `${curl} ${httpUrl(first)}/v2/custody/config`,
  ];
};
