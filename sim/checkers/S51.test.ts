/** What a maker of a key says again, and until when. */
import { expect, it } from "vitest";
import { crypto, founded } from "../../properties/cluster/Cluster.ts";
import { watched } from "../../properties/cluster/Watching.ts";
import type { Message } from "../../core/Message.ts";
import { Violation } from "../base/Violation.ts";
import type { Watched } from "./Checker.ts";
import { Ghost } from "./Ghost.ts";
import { S51 } from "./S51.ts";

const cluster = founded();
const sessionId = "of one key";

/** Peer 1, which makes a key with peers 2 and 3. */
const maker = (session: object, more: Partial<Watched> = {}): Watched => {
  const sessions = new Map([[sessionId, { sessionId, packages: new Map(), shares: new Map(), ...session }]]);
  const peer = watched(cluster, 1, { heldUpUntil: 0, ...more });
  return { ...peer, state: peer.state && { ...peer.state, modules: { makeKey: { sessions } } } };
};

const both = new Map([2, 3].map((each) => [each, {}]));
const hears2 = { packages: new Map([[2, {}]]) };
const told = { packages: both, told: {}, shares: new Map([[2, {}]]) };

const said = (kind: "Package" | "Share", again = true) => ({ _tag: `Keygen.${kind}`, sessionId, again }) as Message;

/** Its session begins at one second, it says something to peer 3 a second later, and hears something at three. */
const judging =
  (peer: Watched, message?: Message, to = 3) =>
  (): void => {
    const checker = S51(new Ghost(crypto, cluster.total));
    checker.stepped?.({ ...peer, decidedAt: 1_000_000 });
    if (message !== undefined) checker.sent?.(peer, message, to, 2_000_000);
    checker.delivered?.(peer, { _tag: "Keygen.Stored" } as Message, 2, 3_000_000);
  };

it("finds a maker that does not say its part again, to whom it has not heard", () => {
  expect(judging(maker(hears2))).toThrow(Violation);
  expect(judging(maker(told))).toThrow(Violation);
  expect(judging(maker(hears2), said("Package", false))).toThrow(Violation);
  expect(judging(maker(told), said("Package"))).toThrow(Violation);
  expect(judging(maker(hears2), said("Package"), 2)).toThrow(Violation);
});

it("lets it say that once, and nothing where it has heard all, was held up or has yet to look", () => {
  expect(judging(maker(hears2), said("Package"))).not.toThrow();
  expect(judging(maker(told), said("Share"))).not.toThrow();
  expect(judging(maker({ ...told, made: {} }))).not.toThrow();
  expect(judging(maker({ ...told, shares: both }))).not.toThrow();
  for (const more of [{ heldUpUntil: 2_000_000 }, { isIdle: false }, { honest: false }])
    expect(judging(maker(hears2, more))).not.toThrow();
});
