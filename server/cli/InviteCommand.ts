/** `custody approvers invite`: a link by which its holder registers a passkey. */
import * as Command from "@effect/cli/Command";
import * as Options from "@effect/cli/Options";
import { Effect, Option, Schema } from "effect";
import { Origin, outsideFault } from "../config/RelyingPartySetting.ts";
import { enrollmentLink, originAt } from "../enroll/EnrollmentLink.ts";
import { readOptionsAnswer } from "./Answers.ts";
import { approverIdOption, metadataOf, metadataOption } from "./ApproverOptions.ts";
import { type CliFailure, usageFailure } from "./CliFailure.ts";
import { jsonLine, printLines } from "./Output.ts";
import type { Service } from "./ServiceClient.ts";
import { jsonOption, serviceOf, serviceOptions } from "./ServiceOptions.ts";

const OPTIONS_PATH = "/v1/custody/approvers/webauthn/registration/options";

export interface Invitee {
  readonly id: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface InvitationLink {
  readonly id: string;
  readonly link: string;
  /** Unix milliseconds. */
  readonly expiresAt: number;
  readonly registrationId: string;
}

/**
 * Asks a peer for an invitation and makes the link of it.
 *
 * @param origin where the link leads; undefined for the address of the peer itself
 */
export const inviteThrough = (
  { call, origin: address }: Service,
  invitee: Invitee,
  origin: string | undefined,
): Effect.Effect<InvitationLink, CliFailure> =>
  Effect.gen(function* () {
    const answer = yield* call({ method: "POST", path: OPTIONS_PATH, body: invitee, beginsAnew: true });
    const invited = yield* readOptionsAnswer(answer.body);
    const { expiresAt, registrationId, publicKey } = invited;
    const { id: rpId } = publicKey.rp;
    const outside = origin === undefined ? undefined : outsideFault(origin, rpId);
    const leadsTo = outside === undefined ? (origin ?? originAt(address, rpId)) : undefined;
    if (leadsTo === undefined) {
      const where = origin === undefined ? "the address of this peer" : "--origin";
      return yield* usageFailure(
        `${where} is not under the relying party ${rpId}, so that no browser would make its passkey there`,
        "give one of webauthn.origins as --origin; the invitation just made expires unused",
      );
    }
    return { id: invitee.id, link: enrollmentLink(leadsTo, invited), expiresAt, registrationId };
  });

/** The link in lines for a person. */
export const invitationLines = ({ id, link, expiresAt }: InvitationLink): ReadonlyArray<string> => [
  `invitation for ${id}, good once and until ${new Date(expiresAt).toISOString()}:`,
  "",
  link,
  "",
  `The link is a secret: with it anybody who has a valid token can register a passkey as ${id}.`,
  "Send it to its holder alone.",
];

export const invite = Command.make(
  "invite",
  {
    id: approverIdOption,
    metadata: metadataOption,
    origin: Options.text("origin").pipe(
      Options.withPseudoName("URL"),
      Options.filterMap(
        Schema.decodeOption(Origin),
        "--origin must be one of webauthn.origins, such as https://custody.example.com",
      ),
      Options.withDescription("Where the link leads, one of webauthn.origins. Default: the address of the peer."),
      Options.optional,
      Options.map(Option.getOrUndefined),
    ),
    service: serviceOptions,
    json: jsonOption,
  },
  ({ id, metadata, origin, service, json }) =>
    Effect.gen(function* () {
      const pairs = yield* metadataOf(metadata);
      const made = yield* inviteThrough(yield* serviceOf(service, process.env), { id, ...pairs }, origin);
      yield* printLines(json ? [jsonLine(made)] : invitationLines(made));
    }).pipe(Effect.scoped),
).pipe(
  Command.withDescription(
    "Print a link by which its holder registers a passkey, and until when. The link is a secret, on standard output.",
  ),
);
