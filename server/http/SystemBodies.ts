/** The bodies of the system endpoints, read as strictly as a registration. */
import { Either } from "effect";
import {
  byField,
  described,
  integer,
  list,
  named,
  object,
  only,
  optional,
  type Shape,
  text,
  type ValueOf,
} from "../../core/codec/Shape.ts";
import { Limits } from "../../core/base/Limits.ts";
import type { BodyFault } from "../../core/base/Rejection.ts";
import { readBody } from "../../core/credential/RequestBody.ts";
import { mostRecipientCharacters, type Recipient, recipientOf } from "../seal/Recipients.ts";
import type { Sharing } from "../seal/SealProvider.ts";
import { faultOf, type HttpFault, httpFault } from "./HttpErrors.ts";

/** These bodies have at most three short fields. */
export const maxSystemBodyBytes = 16 * 1024;
/** The same with the public keys of the future holders of shares. */
export const maxRecipientsBodyBytes = 256 * 1024;
const MOST_SHARES = 255;
const MOST_PEERS = 65_535;

const THIS = "what this endpoint takes";

const NO_FIELDS = new TextEncoder().encode("{}");

/** A body of one of the shapes below; where it is optional, none is one of no fields. Fails with `INVALID_REQUEST_BODY`. */
export const readSystemBody = <A>(
  { shape, isOptional = false }: { readonly shape: Shape<A>; readonly isOptional?: boolean },
  body: Uint8Array,
): Either.Either<A, HttpFault> =>
  Either.mapLeft(readBody(isOptional && body.length === 0 ? NO_FIELDS : body, THIS, shape), faultOf);

export const invalidBody = (faults: ReadonlyArray<BodyFault>): HttpFault =>
  httpFault(
    "INVALID_REQUEST_BODY",
    `The request body is not ${THIS}.`,
    "Correct what the errors point at and send the request again; nothing was changed.",
    { faults },
  );

const fault = (pointer: string, code: string, detail: string): BodyFault => ({ pointer, code, detail });

/** Public keys as texts; {@link recipientOf} judges them. */
const recipients = described(
  "Public keys of the holders, age (`age1…`) or armored PGP, one for each share and no two of one holder.",
  list(
    text({ longest: mostRecipientCharacters, rule: `A public key has at most ${mostRecipientCharacters} characters.` }),
    { fewest: 1, most: MOST_SHARES },
  ),
);

/**
 * The holders' keys, one for each share and no two of one holder. Fails with `INVALID_REQUEST_BODY` and which of them
 * is no good.
 */
export const readRecipients = async (
  texts: ReadonlyArray<string>,
  shares: number,
): Promise<Either.Either<ReadonlyArray<Recipient>, HttpFault>> => {
  if (texts.length === 0) return Either.right([]);
  if (texts.length !== shares)
    return Either.left(
      invalidBody([fault("/recipients", "mismatch", `There are ${shares} shares, so ${shares} keys are needed.`)]),
    );
  const read = await Promise.all(texts.map(recipientOf));
  const names = read.map((each) => (Either.isRight(each) ? each.right.name : undefined));
  const wrong = read.flatMap((each, index): ReadonlyArray<BodyFault> => {
    const pointer = `/recipients/${index}`;
    if (Either.isLeft(each)) return [fault(pointer, "invalid_recipient", each.left)];
    return names.indexOf(each.right.name) < index ? [fault(pointer, "duplicate", "This key is listed twice.")] : [];
  });
  return wrong.length === 0
    ? Either.right(read.flatMap((each) => Either.getOrElse(each, () => [])))
    : Either.left(invalidBody(wrong));
};

/** The core judges whether the numbers fit together. */
export const initShape = named(
  "Initialization",
  object({
    peerId: integer(1, MOST_PEERS),
    threshold: described("1 of a cluster of one; else more than 1, and at most `total`.", integer(1, MOST_PEERS)),
    total: described("One more than `cluster.peers` lists.", integer(1, MOST_PEERS)),
    recipients: optional(recipients),
    join: optional(described("The peer waits for the promotion by `cluster.source`, and founds nothing.", only(true))),
  }),
);

const share = object({
  share64: described("One unseal share in Base64, which the seal provider judges.", text()),
});
const reset = object({ reset: described("Forgets the shares that are in.", only(true)) });

export const unsealShape = named("UnsealStep", byField({ share64: share, reset }));

/** Both numbers or none: {@link sharingIn} judges them together. */
export const rekeyShape = named(
  "RekeyStep",
  byField({
    share64: share,
    reset,
    start: object({
      start: only(true),
      shares: optional(described("Given with `threshold` or not at all.", integer(2, MOST_SHARES))),
      threshold: optional(described("At most `shares`.", integer(2, MOST_SHARES))),
      recipients: optional(recipients),
    }),
  }),
);

type RekeyStart = Extract<ValueOf<typeof rekeyShape>, { readonly start: true }>;

/** The numbers of a rekey that starts; undefined for those of the configuration. */
export const sharingIn = ({
  shares,
  threshold,
}: Pick<RekeyStart, "shares" | "threshold">): Either.Either<Sharing | undefined, HttpFault> => {
  if (shares === undefined && threshold === undefined) return Either.right(undefined);
  if (shares !== undefined && threshold !== undefined && threshold <= shares)
    return Either.right({ shares, threshold });
  return Either.left(
    invalidBody([
      fault("/threshold", "out_of_range", `Give both numbers: 2 <= threshold <= shares <= ${MOST_SHARES}.`),
    ]),
  );
};

const identityKey = described(
  "As its status shows it.",
  text({ pattern: /^[0-9a-f]{64}$/, rule: "An identity key has 64 lower-case hexadecimal digits." }),
);

const target = object({
  peerId: integer(1, MOST_PEERS),
  url: described(
    "Of its peer API, as `cluster.peers` of the source has it.",
    text({ longest: 2048, rule: "A URL has at most 2048 characters." }),
  ),
  identityKey,
});

export const promotionShape = named(
  "Promotion",
  object({
    threshold: described("Members that sign, of the cluster that is made.", integer(2, MOST_PEERS)),
    total: described("One more than there are targets.", integer(2, MOST_PEERS)),
    targets: described("All members but the source.", list(target, { fewest: 1, most: Limits.members - 1 })),
    dryRun: optional(described("Tells what is in the way, and changes nothing.", only(true))),
  }),
);

/** Of 63 targets, with their URLs. */
export const maxPromotionBodyBytes = 256 * 1024;

export const noFields = object({});
