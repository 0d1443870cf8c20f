/**
 * Fills the disk of a stopped peer with approvers in large transactions, by the core's own changes under the runtime's
 * own seals, so that the peer unseals it like one that it filled itself. A disk filled in part is filled up. Arguments: the folder of a development
 * cluster, the peer's id, how many.
 */
import { randomBytes } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Effect, Either } from "effect";
import { commands } from "../../../core/commands/Commands.ts";
import { insertApprover } from "../../../core/commands/approvers/ApproverRows.ts";
import { CAPACITIES } from "../../../core/base/Capacities.ts";
import type { Digest, Entropy } from "../../../core/base/Digest.ts";
import { boot } from "../../../core/protocol/Boot.ts";
import type { StepContext } from "../../../core/protocol/Event.ts";
import { Step } from "../../../core/protocol/Step.ts";
import type { Write } from "../../../core/Tables.ts";
import { SealedStore } from "../../../runtime/SealedStore.ts";
import { cryptoBackend } from "../../../server/crypto/CryptoBackend.ts";
import { devFolder } from "../../../server/dev/DevFolder.ts";
import { shamirProvider } from "../../../server/seal/ShamirSeal.ts";
import type { KeyMaterial } from "../../../server/seal/SealProvider.ts";
import { openSqliteByteStore } from "../../../server/sqlite/SqliteByteStore.ts";
import { approverOf, placed } from "./Approvers.ts";

/**
 * Approvers of one transaction, as of a peer that many callers register at. Were there many more, a few signatures
 * would cover the registry, and reads would find them verified.
 */
const BATCH = 64;

const [root = "", peer = "0", total = "0"] = process.argv.slice(2);
const folder = devFolder(root).peer(Number(peer));
const count = Number(total);
const backend = cryptoBackend("native");
const { crypto } = backend;

const open = async (vault: Uint8Array): Promise<KeyMaterial> => {
  const { shares }: { readonly shares: ReadonlyArray<string> } = JSON.parse(readFileSync(folder.shares, "utf8"));
  const session = Either.getOrThrow(shamirProvider({ shares: 3, threshold: 2 }, randomBytes).unseal(vault));
  for (const share of shares) {
    const step = Either.getOrThrow(await session.submit(share));
    if (step._tag === "Unsealed") return step.material;
  }
  throw new Error("the shares do not open the vault");
};

/** What a change of approvers does not look at has no meaning here. */
const contextOf = (view: SealedStore): StepContext => ({
  now: 0,
  asBefore: [],
  elapsed: 0,
  entropy: "00".repeat(32) as Entropy,
  crypto,
  signer: undefined,
  view,
  commands,
  providers: backend.providers,
  ceremony: backend.ceremony,
  keyCrypto: backend.keyCrypto,
  shareVault: undefined,
  settings: {
    configDigest: "00".repeat(32) as Digest,
    audience: "",
    issuer: undefined,
    peers: [],
    bootstrapSecret: undefined,
    development: true,
    answerMillis: 1,
    capacities: CAPACITIES,
    relyingParty: undefined,
    arbitrary: true,
  },
  judgesTokens: true,
  isWhole: true,
});

const committed = (store: SealedStore, writes: ReadonlyArray<Write>): Promise<void> =>
  new Promise((resolve, reject) => {
    store.commit(writes, (failure) => (failure === undefined ? resolve() : reject(failure)));
  });

const bytes = await Effect.runPromise(openSqliteByteStore({ directory: join(folder.folder, "data") }));
const store = new SealedStore(bytes, crypto);
const keys = backend.keysOf(await open(store.get("vault", "self")?.blob ?? new Uint8Array()));
store.useKey(keys.integrity);
const context = contextOf(store);
let state = boot(store, crypto, commands, 0);
let flush = Promise.resolve();
for (let from = state.registry.approvers; from < count; from += BATCH) {
  const step = new Step(state, context);
  for (let place = from; place < Math.min(from + BATCH, count); place++)
    insertApprover(step, approverOf(crypto, placed(place, count)));
  const decided = step.finish(() => undefined);
  await flush;
  flush = committed(store, decided.writes as ReadonlyArray<Write>);
  state = decided.state;
}
await flush;
await Effect.runPromise(bytes.close);
