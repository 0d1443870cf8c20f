/** Everything peers say to each other: the messages of agreement, and those of every module. */
import { type TypeOf, union } from "./codec/Codec.ts";
import { sessionMessages } from "./commands/enrollPasskey/SessionMessages.ts";
import { protocolMessages } from "./protocol/Message.ts";

export const messageCodec = union({ ...protocolMessages, ...sessionMessages });
export type Message = TypeOf<typeof messageCodec>;
export type MessageOf<T extends Message["_tag"]> = Extract<Message, { readonly _tag: T }>;
