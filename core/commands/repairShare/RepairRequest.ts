/** The operator's call: which key's shares this peer is to get back, and with whose help (contract 10.5). */
import { Either } from "effect";
import type { Rejection } from "../../base/Rejection.ts";
import { bodyRefusal, readBody } from "../../credential/RequestBody.ts";
import type { Call } from "../../protocol/Forward.ts";
import type { Membership, PeerId } from "../../protocol/Topology.ts";
import { repairShape } from "../keys/KeyBodies.ts";
import { keyIdIn } from "../keys/KeyId.ts";

const WHAT = "the helpers of a repair";

export const isRepair = ({ method, path }: Pick<Call, "method" | "path">): boolean =>
  method === "POST" && keyIdIn(path, "repair") !== undefined;

/**
 * The helpers that a body names: as many as sign, members, each once, and not the target.
 *
 * @returns left is 400 `INVALID_REQUEST_BODY`
 */
export const readHelpers = (
  { topology, keys }: Membership,
  target: PeerId,
  rawBody: Uint8Array,
): Either.Either<ReadonlyArray<PeerId>, Rejection> => {
  const read = readBody(rawBody, WHAT, repairShape);
  if (Either.isLeft(read)) return Either.left(read.left);
  const { helpers } = read.right;
  const fault = (detail: string): Either.Either<never, Rejection> =>
    Either.left(bodyRefusal(WHAT, [{ pointer: "/helpers", code: "invalid_value", detail }]));
  if (new Set(helpers).size !== helpers.length) return fault("A helper is named twice.");
  if (helpers.includes(target)) return fault("The peer that is repaired cannot help itself.");
  if (!helpers.every((each) => keys.has(each))) return fault("A helper is no member.");
  if (helpers.length !== topology.threshold) return fault(`It takes exactly ${topology.threshold} helpers.`);
  return Either.right(helpers);
};
