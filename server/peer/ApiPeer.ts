/**
 * A peer as the public API sees it: its standing, which is published data; reads, which look at committed rows; and
 * questions, whose answers come later. Nothing else leads from the API to the driver.
 */
import { type StatusDetail, statusDetail } from "../../core/protocol/Status.ts";
import type { Standing } from "../../runtime/Standing.ts";
import type { Peer } from "./Peer.ts";

export interface ApiPeer
  extends Pick<
    Peer,
    "settings" | "verifying" | "reading" | "read" | "withObservations" | "mutate" | "readiness" | "restore" | "promote"
  > {
  readonly standing: Standing;
  /** What operators are told of the rest; undefined before it is initialized. */
  readonly detail: () => Promise<StatusDetail | undefined>;
}

export const apiPeerOf = (peer: Peer): ApiPeer => ({
  settings: peer.settings,
  get standing() {
    return peer.state;
  },
  get verifying() {
    return peer.verifying;
  },
  get reading() {
    return peer.reading;
  },
  read: (actor, ref) => peer.read(actor, ref),
  withObservations: (approver) => peer.withObservations(approver),
  mutate: (...asked) => peer.mutate(...asked),
  readiness: () => peer.readiness(),
  restore: (operation) => peer.restore(operation),
  promote: (wish) => peer.promote(wish),
  detail: async () => statusDetail(peer.state),
});
