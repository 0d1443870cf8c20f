import { expect, it } from "vitest";
import { jsonLog } from "../peer/Log.ts";
import { WayReport } from "./WayReport.ts";

const reporting = () => {
  const lines: Array<unknown> = [];
  let now = 0;
  const log = jsonLog(
    "info",
    (line) => lines.push(JSON.parse(line)),
    () => 0,
  );
  const { ended } = new WayReport({ peerId: 2, url: "https://b:1", log, elapsedMillis: () => now });
  return { ended, told: () => lines.splice(0), pass: (millis: number) => (now += millis) };
};
const unreachable = (reason: string) => ({
  level: "warn",
  event: "peer unreachable",
  peerId: 2,
  url: "https://b:1",
  reason,
});

it("tells a reason once, another one anew, and that it is over", () => {
  const { ended, told, pass } = reporting();
  ended(undefined);
  expect(told()).toEqual([]);
  for (let times = 0; times < 1_000; times++) ended("one");
  pass(3_600_000);
  ended("one");
  expect(told()).toMatchObject([unreachable("one")]);
  ended("other");
  expect(told()).toMatchObject([unreachable("other")]);
  pass(10_000);
  ended(undefined);
  ended(undefined);
  expect(told()).toMatchObject([{ level: "info", event: "peer reachable", peerId: 2 }]);
});

it("tells no more than a line in ten seconds, and then what lasts", () => {
  const { ended, told, pass } = reporting();
  for (let times = 0; times < 1_000; times++) {
    ended(times % 2 === 0 ? "one" : "other");
    pass(9);
  }
  expect(told()).toMatchObject([unreachable("one")]);
  pass(1_000);
  ended("one");
  expect(told()).toEqual([]);
  ended(undefined);
  expect(told()).toMatchObject([{ event: "peer reachable" }]);
});
