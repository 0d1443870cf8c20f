import { expect, it } from "vitest";
import { noSession } from "../../properties/cluster/Sessions.ts";
import { MailboxRoom } from "../../runtime/transport/MailboxRoom.ts";
import { jsonLog } from "../peer/Log.ts";
import type { Outgoing } from "./Outgoing.ts";
import { openLinks } from "./PeerLinks.ts";

const outgoing = (isAnswer: boolean): Outgoing => ({
  packet: Uint8Array.of(1),
  bytes: 1,
  lane: "round",
  isAnswer,
  warrant: undefined,
  signed: undefined,
});

it("leaves a member's question open for what only a member may have this peer say", () => {
  const links = openLinks([], {
    tls: { rejectUnauthorized: true, minVersion: "TLSv1.3" },
    room: new MailboxRoom(),
    elapsedMillis: () => 0,
    log: jsonLog(
      "info",
      () => undefined,
      () => 0,
    ),
    dropped: () => undefined,
    received: () => undefined,
    session: () => noSession("opener"),
  });
  const ended: Array<Outgoing | undefined> = [];
  links.hold(2, { end: (answer) => ended.push(answer) > 0 });
  links.send(2, outgoing(false));
  expect(ended).toEqual([]);
  links.send(2, outgoing(true));
  expect(ended).toEqual([outgoing(true)]);
  links.close();
});
