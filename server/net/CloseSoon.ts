/** Ends a connection after its last words. */
import type { Duplex } from "node:stream";

/** Time for the last words to arrive: closed at once, with bytes unread here, they could be lost (RFC 9112 9.6). */
const LINGER_MILLIS = 1_000;

/** Writes a text and closes within a second, whether or not the other side reads it or closes too. */
export const closeSoon = (socket: Duplex, text: string): void => {
  const timer = setTimeout(() => socket.destroy(), LINGER_MILLIS);
  socket.once("close", () => clearTimeout(timer));
  socket.on("error", () => socket.destroy());
  socket.end(text);
  // Further bytes are read and thrown away.
  socket.resume();
};
