/** A passkey to try a development cluster with: a link, and how to make more of them. */
import { Effect, type Redacted } from "effect";
import { invitationLines, inviteThrough } from "../cli/InviteCommand.ts";
import { openService } from "../cli/ServiceClient.ts";
import type { Cluster } from "./ClusterFile.ts";
import type { DevFolder } from "./DevFolder.ts";
import { custodyCommand } from "./PeerCommand.ts";
import { httpUrl } from "./PeerConfigFile.ts";
import { shellCommand } from "./ShellWord.ts";

const id = "example";

/**
 * Lines with an invitation through the last peer and the command that makes another one. A cluster that is not ready
 * for it any more gets the command alone.
 */
export const invitationExample = (
  entry: string,
  folder: DevFolder,
  { peers }: Cluster,
  token: Redacted.Redacted,
): Effect.Effect<ReadonlyArray<string>> =>
  Effect.gen(function* () {
    const url = httpUrl(peers.at(-1) ?? peers[0]);
    const made = yield* openService({ origin: url, token, tls: {}, timeoutMillis: 10_000 }).pipe(
      Effect.flatMap((service) => inviteThrough(service, { id }, undefined)),
      Effect.scoped,
      Effect.option,
    );
    const command = ["approvers", "invite", "--id", id, "--url", url, "--token-file", folder.operatorToken];
    return [
      "enroll a passkey: open the link in a browser, and paste the token from above into the page;",
      ...(made._tag === "None" ? [] : invitationLines(made.value)),
      "",
      "make another link:",
      "",
      shellCommand(custodyCommand(entry, ...command)),
    ];
  });
