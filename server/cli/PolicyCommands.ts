/** `custody policies check`. */
import * as Args from "@effect/cli/Args";
import * as Command from "@effect/cli/Command";
import { Effect } from "effect";
import { Limits } from "../../core/base/Limits.ts";
import { readBoundedFile } from "../config/BoundedFile.ts";
import { type PolicyAnswer, readPolicyAnswer } from "./Answers.ts";
import { CliFailure, usageFailure } from "./CliFailure.ts";
import { jsonLine, printable, printLines } from "./Output.ts";
import { jsonOption, serviceOf, serviceOptions } from "./ServiceOptions.ts";
import { readStandardInput } from "./StandardInput.ts";
import { tableLines } from "./Table.ts";

const readPolicyFile = (file: string): Effect.Effect<Uint8Array, CliFailure> =>
  file === "-"
    ? readStandardInput("the policy", Limits.policyBytes)
    : readBoundedFile(file, { maxBytes: Limits.policyBytes, secret: false }).pipe(
        Effect.mapError(({ message }) => usageFailure(message)),
      );

type Entry = PolicyAnswer["entries"][number];

const outcomeText = ({ resolved, type = "", algorithm = "", code = "", duplicateOf }: Entry): string => {
  if (resolved) return type === "WEBAUTHN" ? "passkey, accepts assertions only" : `${type} ${algorithm}`;
  return duplicateOf === undefined ? code : `${code}, see ${duplicateOf}`;
};

const linesOf = ({ policyDigest, entries }: PolicyAnswer): ReadonlyArray<string> => [
  ...(policyDigest === undefined ? [] : [printable(`Resolves: ${policyDigest}`)]),
  ...tableLines(
    ["ENTRY", "APPROVER", "COMES TO"],
    entries.map((entry) => [entry.pointer, entry.ref ?? "(inline key)", outcomeText(entry)]),
  ),
];

const notResolved = ({ entries }: PolicyAnswer): CliFailure =>
  new CliFailure({
    kind: "refused",
    message: `the policy does not resolve: ${entries.filter(({ resolved }) => !resolved).length} of ${entries.length} entries do not`,
    hint: "register what is missing, take duplicates out, and check again",
  });

const check = Command.make(
  "check",
  {
    file: Args.text({ name: "FILE|-" }).pipe(
      Args.withDescription(
        "The policy as JSON; - for standard input. Of a key it is {fourEye: {mode, m, n, keys}}, its keys being {ref} or " +
          "{type, algorithm, publicKey64}; of an authority {policy: {id, fallback, approvers, fallbackApprovals}}.",
      ),
    ),
    service: serviceOptions,
    json: jsonOption,
  },
  ({ file, service, json }) =>
    Effect.gen(function* () {
      if (file === "-" && service.tokenFile === "-")
        return yield* usageFailure("FILE and --token-file both ask for standard input; name a file for one of them");
      // As it is: the service judges the very bytes, duplicate keys too.
      const text = yield* readPolicyFile(file);
      const { call } = yield* serviceOf(service, process.env);
      const { body } = yield* call({ method: "POST", path: "/v1/custody/policies/resolve", text, isRead: true });
      const answer = yield* readPolicyAnswer(body);
      yield* printLines(json ? [jsonLine(body)] : linesOf(answer));
      if (!answer.resolved) return yield* notResolved(answer);
    }).pipe(Effect.scoped),
).pipe(
  Command.withDescription(
    "Show what each pin and key of a policy comes to at the peer that is asked, which changes nothing. " +
      "Ends with 0 when all of it resolves, with 1 when it does not or is refused, with 2 when FILE cannot be read. " +
      "Needs service.approvers.read.",
  ),
);

export const policyCommands = Command.make("policies").pipe(
  Command.withDescription("Check policies against the registry."),
  Command.withSubcommands([check]),
);
