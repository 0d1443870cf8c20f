import { Effect, Exit, Scope } from "effect";
import { expect, it } from "vitest";
import { openGuard } from "../../properties/http/OpenGuard.ts";
import { MailboxRoom } from "../../runtime/transport/MailboxRoom.ts";
import { makePeerListener } from "../transport/PeerListener.ts";
import { Strangers } from "../transport/Strangers.ts";
import { closeListener, listen } from "./Listening.ts";
import { openMetrics, scrapeOf } from "./MetricsListener.ts";

const at = { host: "127.0.0.1", port: 0, inClear: false };
const reading = (isBroken: () => boolean) => async (): Promise<string> => {
  if (isBroken()) throw new Error("a gauge broke");
  return "custody_unsealed 1\n";
};

it("answers 500 where a reading fails, says why in the log alone, and goes on", async () => {
  const lines: Array<unknown> = [];
  let isBroken = true;
  const scrape = scrapeOf(
    reading(() => isBroken),
    { error: (event, fields) => void lines.push([event, fields?.["reason"]]) },
  );
  const unused = () => {
    throw new Error("not used here");
  };
  const peerGuard = openGuard();
  const { server } = makePeerListener(
    {
      metrics: scrape,
      room: new MailboxRoom(),
      strangers: new Strangers(() => 0),
      answered: () => undefined,
      intake: { isBusy: false, receive: unused },
      warranted: unused,
      initialized: unused,
      session: unused,
    },
    undefined,
    peerGuard,
  );
  const scope = await Effect.runPromise(Scope.make());
  const opened = Effect.gen(function* () {
    const own = yield* openMetrics({ metrics: at }, undefined, openGuard(), scrape);
    const peer = { server, guard: peerGuard };
    const peerUrl = yield* Effect.acquireRelease(listen("peer-http", at, peer), () => closeListener(peer, 0));
    return [own?.url, peerUrl];
  });
  try {
    for (const url of await Effect.runPromise(Scope.extend(opened, scope))) {
      isBroken = true;
      const refused = await fetch(`${url}/metrics`);
      expect([refused.status, refused.headers.get("content-type")]).toEqual([500, "application/problem+json"]);
      expect(await refused.json()).toEqual({
        title: "Internal error",
        status: 500,
        detail: "A reading failed; the log of this peer has the reason.",
      });
      isBroken = false;
      const answered = await fetch(`${url}/metrics`);
      expect([answered.status, await answered.text()]).toEqual([200, "custody_unsealed 1\n"]);
    }
    expect(lines).toEqual([
      ["metrics", "a gauge broke"],
      ["metrics", "a gauge broke"],
    ]);
  } finally {
    await Effect.runPromise(Scope.close(scope, Exit.void));
  }
});
