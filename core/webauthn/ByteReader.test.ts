import { expect, it } from "vitest";
import { ByteReader, OutOfBytes } from "./ByteReader.ts";

it("reads no further than its bytes, and to the last of them", () => {
  const reader = new ByteReader(Uint8Array.of(1, 2, 0, 1, 9));
  expect(reader.integer(2)).toBe(258);
  expect(() => reader.take(4)).toThrow(OutOfBytes);
  expect(() => reader.end()).toThrow(OutOfBytes);
  expect(reader.sized()).toEqual(Uint8Array.of(9));
  reader.end();
  expect(() => reader.take(1)).toThrow(OutOfBytes);
  expect(reader.take(0)).toEqual(new Uint8Array(0));
});
