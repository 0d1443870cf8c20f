/**
 * The rules of the contract that callers keep and break, each by its section, and who judges what becomes of it. A mark
 * tells that a rule was met: that a request was refused for it, and that one which keeps it was done. The default mix
 * is held to these marks (`sim/hunting/Sometimes.ts`), and docs/simulator.md shows the table.
 */

interface Met {
  /** The invariants that a wrong answer would break. */
  readonly judges: ReadonlyArray<string>;
  /** Marks; none where nothing may be refused, or nothing is done. */
  readonly refused: ReadonlyArray<string>;
  readonly done: ReadonlyArray<string>;
}

/** Requests at the edge of the rule ask for it (Edges.ts). */
const edge = (rule: string, ...judges: ReadonlyArray<string>): Met => ({
  judges,
  refused: [`broken ${rule}`],
  done: [`kept ${rule}`],
});

/** The mark of an answer to a request of some kind. */
export const markOf = (kind: string, answered: string): string => `${kind} ${answered}`;

const MAKING = ["REGISTER", "FINISH"];
const PERMITTED = ["REGISTER", "METADATA", "OPTIONS"];
const ALL = [...PERMITTED, "FINISH"];
const READERS = ["get", "policy"];
const DONE = {
  REGISTER: "answered 201",
  METADATA: "answered Replaced",
  OPTIONS: "answered Offered",
  FINISH: "answered 201",
};

const refusedAs = (kinds: ReadonlyArray<string>, code: string): ReadonlyArray<string> =>
  kinds.map((kind) => markOf(kind, `answered ${code}`));
const doneFor = (kinds: ReadonlyArray<string>): ReadonlyArray<string> =>
  Object.entries(DONE).flatMap(([kind, answered]) => (kinds.includes(kind) ? [markOf(kind, answered)] : []));

/** Requests of these kinds are refused with a code, or done. */
const answer = (kinds: ReadonlyArray<string>, code: string, ...judges: ReadonlyArray<string>): Met => ({
  judges,
  refused: refusedAs(kinds, code),
  done: doneFor(kinds),
});

/** Requests about keys that break it so, and others that are done. */
const ofKeys = (rule: string, done: string, ...judges: ReadonlyArray<string>): Met => ({
  judges,
  refused: [`broken ${rule}`],
  done: [done],
});

export const rules = {
  "2.1 id": edge("2.1 id", "S30"),
  "2.2 key": answer(MAKING, "KEY_ALREADY_REGISTERED", "S7", "S30", "H1"),
  "2.2 ref": {
    judges: ["S30", "S49"],
    refused: ["broken 2.2 ref", "get: INVALID_REF", "get: APPROVER_NOT_FOUND"],
    done: ["get: a version"],
  },
  "2.3 credential": {
    judges: ["S8", "S30"],
    refused: refusedAs(["FINISH"], "CREDENTIAL_ALREADY_REGISTERED"),
    done: ["kept 2.3 credential"],
  },
  "2.3 counter": { judges: ["S24", "S30"], refused: [], done: ["FINISH: a counter went back"] },
  "2.4 pairs": edge("2.4 pairs", "S30"),
  "2.4 key": edge("2.4 key", "S30"),
  "2.4 value": edge("2.4 value", "S30"),
  "2.4 total": edge("2.4 total", "S30"),
  "2.5 invitation": answer(["FINISH"], "REGISTRATION_NOT_FOUND", "S14", "S30"),
  "2.6 policy": {
    judges: ["S49"],
    refused: ["policy: INVALID_REQUEST_BODY"],
    done: ["policy: read"],
  },
  "2.6 approvers": {
    judges: ["S49"],
    refused: ["policy: approver_not_found", "policy: duplicate_key"],
    done: ["policy: resolved"],
  },
  "2.8 key": edge("2.8 key", "S30", "K6"),
  "2.8 algorithm": ofKeys("2.8 algorithm", "KEYGEN answered 201", "S30"),
  "2.8 shares": ofKeys("2.8 shares", "KEYGEN answered 201", "S30"),
  "2.8 authorities": ofKeys("2.8 authorities", "KEYGEN answered 201", "S30"),
  "2.8 command": ofKeys("2.8 command", "SIGN answered Signed", "S30", "K14"),
  "3.1 ceremony": answer(["FINISH"], "INVALID_CEREMONY", "S14", "S30"),
  "3.1 deadline": answer(["FINISH"], "REGISTRATION_EXPIRED", "S30", "S61"),
  "3.1 one response": {
    judges: ["S15", "S30"],
    refused: refusedAs(["FINISH"], "REGISTRATION_COMPLETED"),
    done: refusedAs(["FINISH"], "200"),
  },
  "3.2 all members": answer(ALL, "APPROVER_REPLICATION_UNAVAILABLE", "L4", "L8"),
  "4.1 permission": answer(PERMITTED, "ACCESS_DENIED", "S30"),
  "4.1 extension": { judges: ["S30"], refused: ["broken 4.1 extension"], done: doneFor(["FINISH"]) },
  "4.1 retry": { judges: ["H1"], refused: [], done: refusedAs(["REGISTER"], "200") },
  "4.1.1 cursor": { judges: ["S40"], refused: ["list: a wrong cursor"], done: ["list: a page"] },
  "4.1.1 limit": edge("4.1.1 limit", "S40"),
  "4.1.1 filter": edge("4.1.1 filter", "S40"),
  "4.1.2 body": { judges: ["S30"], refused: ["broken 4.1.2 body"], done: doneFor(ALL) },
  "4.1.2 If-Match": answer(["METADATA"], "PRECONDITION_FAILED", "S30", "H1"),
  "4.1.3 key": { judges: ["S30"], refused: ["broken 4.1.3 key"], done: doneFor(["REGISTER"]) },
  "4.3 identities": {
    judges: ["K18"],
    refused: ["identities: UNAUTHENTICATED", "identities: SEALED"],
    done: ["identities: a page", "identities: another page"],
  },
  "4.3 authority": {
    judges: ["K18"],
    refused: ["authority: ACCESS_DENIED", "authority: AUTHORITY_NOT_ATTACHED", "authority: KEY_DESTROYED"],
    done: ["authority: shown"],
  },
  "5.1 token": answer(ALL, "UNAUTHENTICATED", "S30"),
  "5.3 no permission": { judges: ["S30"], refused: [], done: ["FINISH: without permission"] },
  "5.6 reading": {
    judges: ["S49"],
    refused: [...READERS.map((kind) => `${kind}: ACCESS_DENIED`), ...READERS.map((kind) => `${kind}: UNAUTHENTICATED`)],
    done: ["get: a version", "policy: read"],
  },
  "7 428": answer(["METADATA"], "PRECONDITION_REQUIRED", "S30"),
  "7 429 sessions": answer(["OPTIONS"], "SESSION_CAPACITY", "S10", "S56"),
  "7 429 preparations": answer(["REGISTER"], "PREPARATION_CAPACITY", "S10"),
  "10.5 helpers": ofKeys("10.5 helpers", "REPAIR answered Repaired", "S30", "K7", "K19"),
  "10.7 base": ofKeys("10.7 base", "KEYGEN answered 200", "S30", "K6"),
  "10.7 destruction": ofKeys("10.7 destruction", "DESTROY answered KeyDestroyed", "S30", "K9"),
  "8 body": edge("8 body", "S30"),
} satisfies { readonly [rule: string]: Met };
export type Rule = keyof typeof rules;

/** Every mark that the default mix has to set. */
export const ruleMarks: ReadonlySet<string> = new Set(
  Object.values(rules).flatMap(({ refused, done }) => [...refused, ...done]),
);
