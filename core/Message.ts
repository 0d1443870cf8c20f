/** All messages between peers: those of agreement, and those of every module. */
import type { Codec, Variant } from "./codec/Codec.ts";
import { commands, type ModuleMessages } from "./commands/Commands.ts";
import type { Composition } from "./protocol/Composition.ts";
import type { protocolMessages } from "./protocol/Message.ts";

export type Message = Variant<typeof protocolMessages & ModuleMessages>;
export type MessageOf<T extends Message["_tag"]> = Extract<Message, { readonly _tag: T }>;

/** The versions in which peers speak, and their messages. */
export type Speech = Pick<Composition, "versions" | "firstOf" | "messagesIn">;

/** The messages of a version; in types, those of another composition than this one pass for some of these. */
export const messagesIn = (speech: Speech, version: number): Codec<Message> =>
  speech.messagesIn(version) as unknown as Codec<Message>;

export const messageCodec = messagesIn(commands, commands.versions.highest);
