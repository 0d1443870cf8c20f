import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { nextStep } from "./NextStep.ts";

const [, section = ""] = readFileSync("docs/operations.md", "utf8").split("### Reasons given for a member\n");
/** Every reason that the page explains; one entry may explain several. */
const reasons = [...(section.split("\n## ")[0] ?? "").matchAll(/^- \*\*(.+?)\*\*/gm)].flatMap(([, bold = ""]) =>
  bold.split(/[,;] (?=it |its |the |a )/),
);

it("knows a step for every reason of the page, but for those that a repeated request settles", () => {
  expect(reasons.length).toBeGreaterThan(25);
  expect(reasons.filter((each) => nextStep(each) === undefined)).toEqual([
    "it has not confirmed the preparation",
    "it has not acknowledged the change",
    "it has not said that it stores it",
    "it has not acknowledged the session",
    "it no longer knows what became of requests as old as this one",
  ]);
});

it.each([
  ["it is sealed", "unseal it (custody unseal)"],
  ["it is quarantined", "declare its restore (custody restore --url of that peer)"],
  ["it speaks version 1 of the protocol, this peer versions 2 to 3", "upgrade the older one"],
  ["it refuses", "ask again; if that stays, look at its log"],
  ["its clock differs by more than 5 s", "look at NTP on that machine"],
  ["something that a later version says", undefined],
])("says for %j: %j", (reason, step) => {
  expect(nextStep(reason)).toBe(step);
});
