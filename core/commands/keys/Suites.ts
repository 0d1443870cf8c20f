/** Which suite a request means, and whether this cluster can make such keys. */
import { Either } from "effect";
import { type Rejection, rejection } from "../../base/Rejection.ts";
import { type KeyCrypto, type Suite, suiteOf, usualSuite } from "../../threshold/Suite.ts";

/** Whether keys of a suite can be made where this many peers hold them. */
const isFor = (members: number, shared: Suite["shared"]): boolean => members === 1 || shared !== undefined;

/** Of what this many peers can make, each algorithm once. */
const algorithmsFor = ({ suites }: KeyCrypto, members: number): ReadonlyArray<string> => [
  ...new Set(suites.flatMap(({ algorithm, shared }) => (isFor(members, shared) ? [algorithm] : []))),
];

const unsupported = (algorithms: ReadonlyArray<string>): Rejection =>
  rejection(
    "UNSUPPORTED_ALGORITHM",
    "No key of this algorithm can be made here.",
    `Use one of ${algorithms.join(", ")}; names are case-sensitive.`,
    { faults: [{ pointer: "/algorithm", code: "unsupported_algorithm", detail: "No keys of it can be made here." }] },
  );

const noSuchScheme = rejection(
  "INVALID_REQUEST_BODY",
  "The request body is not a key creation.",
  "Correct what the errors point at and send the request again; nothing was changed.",
  { faults: [{ pointer: "/scheme", code: "invalid_value", detail: "The algorithm has no such scheme here." }] },
);

/** Who names no scheme has chosen it by the algorithm. */
const notThreshold = (scheme: string | undefined): Rejection =>
  rejection(
    "SCHEME_NOT_THRESHOLD",
    "No kept library signs with shares of such keys, so only a peer that is alone can have one.",
    "Use ED25519 with EdDSA, or SECP256K1 with BIP340 or TAPROOT; or a mono instance.",
    {
      faults: [
        {
          pointer: scheme === undefined ? "/algorithm" : "/scheme",
          code: "invalid_value",
          detail: "Several members cannot sign so together.",
        },
      ],
    },
  );

/**
 * The suite of a new key.
 *
 * @param scheme by default the first of the algorithm
 * @param members how many peers hold the key
 * @returns `UNSUPPORTED_ALGORITHM`, `INVALID_REQUEST_BODY` for a scheme of another algorithm, `SCHEME_NOT_THRESHOLD`
 */
export const suiteFor = (
  keyCrypto: KeyCrypto,
  algorithm: string,
  scheme: string | undefined,
  members: number,
): Either.Either<Suite, Rejection> => {
  const usual = usualSuite(keyCrypto, algorithm);
  if (usual === undefined) return Either.left(unsupported(algorithmsFor(keyCrypto, members)));
  const suite = scheme === undefined ? usual : suiteOf(keyCrypto, algorithm, scheme);
  if (suite === undefined) return Either.left(noSuchScheme);
  return isFor(members, suite.shared) ? Either.right(suite) : Either.left(notThreshold(scheme));
};
