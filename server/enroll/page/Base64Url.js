/** Unpadded Base64url (RFC 4648 5), in its one canonical form. */

/** @param {Uint8Array} bytes */
export const encode = (bytes) =>
  btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(""))
    .replaceAll("+", "-")
    .replaceAll("/", "_")
    .replaceAll("=", "");

/**
 * The bytes; undefined for any other text than the one {@link encode} writes for them.
 * @param {string} text
 */
export const decode = (text) => {
  if (!/^[A-Za-z0-9_-]*$/.test(text) || text.length % 4 === 1) return undefined;
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  return encode(bytes) === text ? bytes : undefined;
};
