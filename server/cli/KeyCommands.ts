/** `custody keys create | list | show | rotate | refresh | destroy | repair | public`. */
import * as Command from "@effect/cli/Command";
import * as Options from "@effect/cli/Options";
import { Effect } from "effect";
import { KEYS_PATH } from "../../core/commands/keys/KeyId.ts";
import { usageFailure } from "./CliFailure.ts";
import { readChangedKey, readRepaired } from "./KeyAnswers.ts";
import { listKeys } from "./KeyListCommand.ts";
import { baseOption, generationOption, keyArgument, optionalText, pathOfKey, schemeOption } from "./KeyOptions.ts";
import { printResult } from "./Output.ts";
import { publicKey } from "./PublicKeyCommand.ts";
import { jsonOption, serviceOf, serviceOptions, type ServiceSettings } from "./ServiceOptions.ts";
import { whileWaiting } from "./Waiting.ts";

interface Wish {
  /** What is counted in seconds while it is done. */
  readonly doing: string;
  readonly path: string;
  readonly body: unknown;
  readonly json: boolean;
  /** The headline, by the answer's status and what it says. */
  readonly done: (status: number, key: string) => string;
}

const change = ({ doing, path, body, json, done }: Wish, settings: ServiceSettings) =>
  Effect.gen(function* () {
    const { call } = yield* serviceOf(settings, process.env);
    const asked = call({ method: "POST", path, body });
    const answer = yield* json ? asked : whileWaiting(doing, asked);
    const { keyId, generation } = yield* readChangedKey(answer.body);
    const headline = done(answer.status, `${keyId}, generation ${generation.generation}`);
    yield* printResult({ json, headline, value: answer.body });
  }).pipe(Effect.scoped);

const ownerOption = optionalText("asset-owner", "OWNER", "Whose assets the key is for, such as customer-42.");

const harmless = "Repeating the same command is harmless.";

const create = Command.make(
  "create",
  {
    id: Options.text("id").pipe(
      Options.withPseudoName("KEY-ID"),
      Options.withDescription("The id of the key, such as payments-eu; it is never free again."),
    ),
    algorithm: Options.text("algorithm").pipe(
      Options.withPseudoName("ALG"),
      Options.withDescription("ED25519 or SECP256K1; of a peer that is alone also P256, MLDSA44, MLDSA65, MLDSA87."),
    ),
    scheme: schemeOption("EdDSA, BIP340, TAPROOT, ECDSA or MLDSA. Default: the first that the algorithm has."),
    authority: Options.choice("authority", ["arbitrary"]).pipe(
      Options.withDescription("What the key may sign: arbitrary is any bytes."),
    ),
    assetOwner: ownerOption,
    service: serviceOptions,
    json: jsonOption,
  },
  ({ id, algorithm, scheme, authority, assetOwner, service, json }) =>
    change(
      {
        doing: "all members make the key",
        path: KEYS_PATH,
        body: {
          keyId: id,
          algorithm,
          ...(scheme === undefined ? {} : { scheme }),
          authorities: [{ id: authority }],
          ...(assetOwner === undefined ? {} : { assetOwner }),
        },
        json,
        done: (status, key) => `${status === 201 ? "Created" : "Created already"}: ${key}`,
      },
      service,
    ),
).pipe(Command.withDescription(`Make a key of which every member has a share. ${harmless}`));

const show = Command.make(
  "show",
  {
    key: keyArgument,
    generation: generationOption("This generation. Default: the newest."),
    service: serviceOptions,
    json: jsonOption,
  },
  ({ key, generation, service, json }) =>
    Effect.gen(function* () {
      const path = yield* pathOfKey(key);
      const { call } = yield* serviceOf(service, process.env);
      const of = generation === undefined ? path : `${path}/generations/${generation}`;
      const { body } = yield* call({ method: "GET", path: of });
      yield* printResult({ json, value: body });
    }).pipe(Effect.scoped),
).pipe(Command.withDescription("Show a key and one of its generations; health is of the peer that is asked."));

const renewing = (act: "rotate" | "refresh", doing: string, done: string, description: string) =>
  Command.make(
    act,
    { key: keyArgument, base: baseOption, assetOwner: ownerOption, service: serviceOptions, json: jsonOption },
    ({ key, base, assetOwner, service, json }) =>
      Effect.gen(function* () {
        const path = yield* pathOfKey(key, act);
        const body = { baseGeneration: base, ...(assetOwner === undefined ? {} : { assetOwner }) };
        yield* change({ doing, path, body, json, done: (_, made) => `${done}: ${made}` }, service);
      }),
  ).pipe(Command.withDescription(`${description} ${harmless}`));

const rotate = renewing(
  "rotate",
  "all members make the next generation",
  "Rotated",
  "Make a key's next generation, with another public key.",
);

const refresh = renewing(
  "refresh",
  "all members make new shares",
  "Refreshed",
  "Give all members new shares of the same key; the old ones are erased.",
);

const destroy = Command.make(
  "destroy",
  {
    key: keyArgument,
    base: baseOption,
    generation: generationOption("The generation that is destroyed, before the active one."),
    final: Options.boolean("final").pipe(
      Options.withDescription("Destroy the key with all generations, for ever; in place of --generation."),
    ),
    service: serviceOptions,
    json: jsonOption,
  },
  ({ key, base, generation, final, service, json }) =>
    Effect.gen(function* () {
      if (final === (generation !== undefined))
        return yield* usageFailure("give --generation N for one generation, or --final for the whole key");
      const path = yield* pathOfKey(key, "destroy");
      const body = { baseGeneration: base, generation: generation ?? base, ...(final ? { final } : {}) };
      yield* change({ doing: "all members erase", path, body, json, done: (_, made) => `Destroyed: ${made}` }, service);
    }),
).pipe(Command.withDescription(`Have every member erase its share of a generation, or of the whole key. ${harmless}`));

const repair = Command.make(
  "repair",
  {
    key: keyArgument,
    // As texts: the library misreads a number that may be repeated and is not.
    helper: Options.text("helper").pipe(
      Options.withPseudoName("PEER"),
      Options.withDescription("A member that helps; as many as sign, each named once."),
      Options.repeated,
      Options.withDefault<ReadonlyArray<string>>([]),
    ),
    service: serviceOptions,
    json: jsonOption,
  },
  ({ key, helper: named, service, json }) =>
    Effect.gen(function* () {
      const path = yield* pathOfKey(key, "repair");
      if (named.length === 0) return yield* usageFailure("name the helpers: --helper PEER, as many as sign");
      if (!named.every((each) => /^[1-9][0-9]{0,8}$/.test(each)))
        return yield* usageFailure("--helper is not the number of a peer");
      const helpers = named.map(Number);
      const { call } = yield* serviceOf(service, process.env);
      const { body } = yield* call({ method: "POST", path, body: { helpers }, beginsAnew: true });
      const { generations } = yield* readRepaired(body);
      const headline = `Repaired: ${key}, generations ${generations.join(", ") || "none"}; refresh the key now`;
      yield* printResult({ json, headline, value: body });
    }).pipe(Effect.scoped),
).pipe(Command.withDescription("Give the peer at --url its missing shares again, with the help of as many as sign."));

export const keyCommands = Command.make("keys").pipe(
  Command.withDescription("Make keys, read, rotate, refresh, repair and destroy them."),
  Command.withSubcommands([create, listKeys, show, rotate, refresh, destroy, repair, publicKey]),
);
