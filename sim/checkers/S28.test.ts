import { expect, it } from "vitest";
import { founded } from "../../properties/cluster/Cluster.ts";
import { watched } from "../../properties/cluster/Watching.ts";
import type { Watched } from "./Checker.ts";
import { Violation } from "../base/Violation.ts";
import { S28 } from "./S28.ts";

const cluster = founded();

/** Peer 1 with or without damage that it has found, in its first process or a later one. */
const peer = (integrityFault: string | undefined, process = 1): Watched =>
  watched(cluster, 1, { process }, { integrityFault });

const signed = (tell: (checker: ReturnType<typeof S28>) => void, peer: Watched): (() => void) => {
  const checker = S28();
  tell(checker);
  return () => checker.signed?.(peer, "CUSTODY_STMT_BATCH_V1");
};

it("lets a peer sign as long as its process has found nothing", () => {
  expect(signed(() => undefined, peer(undefined))).not.toThrow();
  expect(signed((checker) => checker.stepped?.(peer("slots/1")), peer(undefined, 2))).not.toThrow();
});

it("finds a signature of a process that has found damage, whether it remembers that or not", () => {
  expect(signed((checker) => checker.stepped?.(peer("slots/1")), peer(undefined))).toThrow(Violation);
  expect(signed((checker) => checker.booted?.(peer("peer/self")), peer(undefined))).toThrow(Violation);
});

it("finds one before the state that knows of the damage was shown", () => {
  expect(signed(() => undefined, peer("slots/1"))).toThrow(Violation);
});
