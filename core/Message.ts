/** Everything peers say to each other: the messages of agreement, and those of every module. */
import type { Codec, Variant } from "./codec/Codec.ts";
import { commands, type ModuleMessages } from "./commands/Commands.ts";
import type { Composition } from "./protocol/Composition.ts";
import type { protocolMessages } from "./protocol/Message.ts";

export type Message = Variant<typeof protocolMessages & ModuleMessages>;
export type MessageOf<T extends Message["_tag"]> = Extract<Message, { readonly _tag: T }>;

/** The messages of a composition, those that only another one than this version's has passing for some of these. */
export const messagesOf = ({ messages }: Composition): Codec<Message> => messages as unknown as Codec<Message>;

export const messageCodec = messagesOf(commands);
