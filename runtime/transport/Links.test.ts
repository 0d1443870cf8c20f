import { expect, it } from "vitest";
import { HeldAnswers } from "./HeldAnswers.ts";
import { Links } from "./Links.ts";

it("sends as an answer what may be one, and everything else on its link", () => {
  const time = { elapsedMillis: () => 0, later: () => () => undefined };
  const sent: Array<string> = [];
  const answered: Array<string | undefined> = [];
  const link = { isReachable: undefined, send: (text: string) => void sent.push(text), close: () => undefined };
  const links = new Links<string>(new HeldAnswers(time), new Map([[2, link]]), (text) => text !== "large");
  links.hold(2, { end: (text) => answered.push(text) > 0 });
  for (const text of ["large", "small", "late"]) links.send(2, text);
  expect([sent, answered]).toEqual([["large", "late"], ["small"]]);
});
