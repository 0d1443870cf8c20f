/** What an operator does about a reason for which a peer is not ready; docs/operations.md says more of each. */

const steps: ReadonlyArray<readonly [reason: RegExp, step: string]> = [
  [/^it does not answer$/, "start it; where it runs, custody doctor --config on both machines tries the way"],
  [/^it is there and answers too slowly$/, "ask it for its own status; look at its load, its disk and the network"],
  [/^(?:it is sealed|it is blank)$/, "unseal it (custody unseal)"],
  [/^(?:its records are being verified|it is verifying)$/, "wait; custody status shows how far it is"],
  [/^it is not initialized$/, "custody init at it"],
  [/^(?:the cluster is not founded yet|it has not founded the cluster yet|it is founding)$/, "unseal every peer"],
  [/^its cluster configuration differs$/, "compare the files, and restart the peer that is wrong"],
  [/^it speaks versions? /, "upgrade the older one"],
  [/^it belongs to another topology$/, "correct cluster.peers, or put its own backup back: it was initialized anew"],
  [/^it is joining/, "wait; if it stays, look at the other members"],
  [/^(?:its stored records do not hold|it is damaged)$/, "stop it, and put its own backup back"],
  [/^(?:it ran from an old disk|it is quarantined)$/, "declare its restore (custody restore --url of that peer)"],
  [/^(?:it was|a member was) restored meanwhile$/, "ask again"],
  [/^it refuses$/, "ask again; if that stays, look at its log"],
  [/^it is (?:recovering|announcing)/, "wait; custody status of that peer shows what for"],
  [/^it was started, and asks/, "wait; it goes on after 5 s"],
  [/^it is being promoted/, "wait; custody promote status shows what for"],
  [/\bclock/, "look at NTP on that machine"],
  [/^it cannot verify tokens/, "look at auth.jwks there"],
  [/^it holds as many /, "bring up all members; then wait"],
  [/^it is asked too often$/, "ask less often"],
];

/** What to do about one reason, or undefined where waiting and asking again is all there is. */
export const nextStep = (reason: string): string | undefined => steps.find(([pattern]) => pattern.test(reason))?.[1];
