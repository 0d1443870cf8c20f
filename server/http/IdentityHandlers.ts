/** The identity catalog (contract 4.3); answers are never kept, as all that say nothing else. */
import { Effect, Either } from "effect";
import { isKeyId } from "../../core/commands/keys/KeyId.ts";
import {
  authorityDescription,
  IDENTITIES_BY_DEFAULT,
  identityPage,
  MOST_IDENTITIES,
} from "../../runtime/IdentityCatalog.ts";
import { type QueryFault, type QueryRules, readQuery, wholeNumber, wholeNumberFault } from "../../runtime/Query.ts";
import { type ApiCall, answer, authorized, type Handler, holderOf } from "./ApiCall.ts";
import { identityEndpoints } from "./endpoints/IdentityEndpoints.ts";
import { faultOf, type HttpFault, invalidQuery } from "./HttpErrors.ts";
import { queryIn } from "./RequestTarget.ts";

type Values = ReadonlyMap<string, string>;

const queryOf = ({ request }: ApiCall, rules: QueryRules): Either.Either<Values, HttpFault> =>
  Either.mapBoth(readQuery(queryIn(request.url ?? ""), rules), {
    onLeft: invalidQuery,
    onRight: (given) => new Map(given.map(({ name, value }) => [name, value])),
  });

const listRules: QueryRules = {
  named: {
    lastSeen: (value) => (isKeyId(value) ? undefined : "This is the nextCursor of a page."),
    limit: (value) => wholeNumberFault(value, MOST_IDENTITIES),
  },
};

/** GET /v1/custody/control/identities. */
export const listIdentities: Handler = (call) =>
  Effect.gen(function* () {
    const { actor } = yield* authorized(call);
    const query = yield* queryOf(call, listRules);
    const limit = wholeNumber(query.get("limit") ?? "", MOST_IDENTITIES) ?? IDENTITIES_BY_DEFAULT;
    const { peer, longReads } = call.ports;
    const work = identityPage(() => peer.reading, actor, query.get("lastSeen") ?? "", limit);
    const page = yield* longReads.run(holderOf(actor), work);
    const { items, nextCursor = null } = yield* Either.mapLeft(page, faultOf);
    return { ...answer(identityEndpoints.listIdentities, 200, { items, nextCursor }), caller: holderOf(actor) };
  });

const describeRules: QueryRules = { named: { keyId: () => undefined, authorityId: () => undefined } };

const missing = (parameter: string): QueryFault => ({
  parameter,
  code: "missing_parameter",
  detail: "This parameter is needed.",
});

/** GET …/authority. What is no id of a key or an authority is none that exists. */
export const describeAuthority: Handler = (call) =>
  Effect.gen(function* () {
    const { actor } = yield* authorized(call);
    const query = yield* queryOf(call, describeRules);
    const faults = ["keyId", "authorityId"].filter((each) => !query.has(each)).map(missing);
    if (faults.length > 0) return yield* Effect.fail(invalidQuery(faults));
    const { reading } = call.ports.peer;
    const found = authorityDescription(reading, actor, query.get("keyId") ?? "", query.get("authorityId") ?? "");
    const { id, type, version = null, description = null, commandSchema } = yield* Either.mapLeft(found, faultOf);
    const authority = { id, type, version, description, commandSchema };
    return { ...answer(identityEndpoints.describeAuthority, 200, authority), caller: holderOf(actor) };
  });
