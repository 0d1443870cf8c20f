import { expect, it } from "vitest";
import { isLoopbackHost } from "./Loopback.ts";

it.each([
  ["127.0.0.1", true],
  ["127.255.255.254", true],
  ["::1", true],
  ["[::1]", true],
  ["localhost", true],
  ["LOCALHOST", true],
  ["0.0.0.0", false],
  ["::", false],
  ["128.0.0.1", false],
  ["127.0.0.1.example.org", false],
  ["localhost.example.org", false],
  ["127.evil", false],
  ["::ffff:127.0.0.1", false],
  ["", false],
])("%s is loopback: %s", (host, expected) => {
  expect(isLoopbackHost(host)).toBe(expected);
});
