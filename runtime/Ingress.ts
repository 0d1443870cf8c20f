/**
 * What must be known before a message may enter the core: whom its bearer tokens speak for. Verification may take its
 * time (keys come over the network in the server), so it happens here, outside the step; every other check is the
 * core's.
 */
import type { ActorCheck } from "../core/auth/ActorCheck.ts";
import { commands } from "../core/commands/Commands.ts";
import type { Composition } from "../core/protocol/Composition.ts";
import type { Event } from "../core/protocol/Event.ts";
import type { Message } from "../core/Message.ts";
import type { PeerId } from "../core/protocol/Topology.ts";
import type { Versions } from "../core/protocol/Versions.ts";

/** The bearer tokens in a message, in the order in which the core expects the answers. */
export const tokensIn = (message: Message, of: Pick<Composition, "tokensIn"> = commands): ReadonlyArray<string> =>
  of.tokensIn(message);

/** The event a message becomes once its tokens are judged. */
export const delivery = (
  from: PeerId,
  message: Message,
  actors: ReadonlyArray<ActorCheck>,
  versions?: Versions,
): Event => ({ _tag: "Deliver", from, message, actors, versions });
