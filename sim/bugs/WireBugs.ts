/** Bugs in how messages are read. */
import type { Codec } from "../../core/codec/Codec.ts";
import type { CborSource } from "../../core/codec/CborSource.ts";
import { commands } from "../../core/commands/Commands.ts";
import type { Speech } from "../../core/Message.ts";
import type { Message } from "../../core/protocol/Message.ts";
import { byteWireOf } from "../network/Wire.ts";
import type { PlantedBug } from "./PlantedBug.ts";

/** The source, which takes what is referred to for what came after it, if something of that length did. */
const misnumbered = (source: CborSource): CborSource => {
  const known: Array<string> = [];
  const hex = source.hex.bind(source);
  return Object.assign(source, {
    hex: (length: number): string => {
      const value = hex(length);
      const at = known.indexOf(value);
      if (at < 0) known.push(value);
      return at < 0 ? value : (known.find((other, place) => place > at && other.length === value.length) ?? value);
    },
  });
};

/** This version's messages, misread where they refer to what they have said before. */
const misreading = (): Speech => {
  const misread = (codec: Codec<Message>): Codec<Message> => ({
    write: codec.write,
    read: (source) => codec.read(misnumbered(source)),
  });
  const { versions, firstOf } = commands;
  const codecs = new Map<number, Codec<Message>>();
  for (let version = versions.lowest; version <= versions.highest; version++)
    codecs.set(version, misread(commands.messagesIn(version)));
  return { versions, firstOf, messagesIn: (version) => codecs.get(version) ?? commands.messagesIn(version) };
};

export const wireBugs: ReadonlyArray<PlantedBug> = [
  {
    name: "misnumbered",
    changes: "a peer takes a digest that a message refers to by its number for another one in the message",
    finds: "L9",
    orFinds: ["L1", "L5", "L7"],
    crypto: "codec",
    tampering: () => {
      const { open } = byteWireOf(misreading());
      return {
        cryptography: (honest) => ({
          ...honest,
          wire: { ...honest.wire, open: (crypto, state, packet) => open(crypto, state, packet) },
        }),
      };
    },
  },
];
