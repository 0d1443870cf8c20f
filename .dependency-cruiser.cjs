/** The folders of the core, each of which may use those before it, types included. */
const core = [
  "^core/base/",
  "^core/codec/",
  "^core/crypto/",
  "^core/threshold/",
  "^core/credential/",
  "^core/webauthn/",
  "^core/policy/",
  "^core/auth/",
  "^core/protocol/",
  "^core/commands/approvers/",
  "^core/commands/registerKey/",
  "^core/commands/replaceMetadata/",
  "^core/commands/enrollPasskey/",
  "^core/commands/keys/",
  "^core/commands/makeKey/",
  "^core/commands/destroyKey/",
  "^core/commands/signWithKey/",
  "^core/commands/repairShare/",
  "^core/commands/[^/]+$",
  "^core/[^/]+$",
];

/** The same of the simulator: what peers run on, what is asked of them, who judges, the world, what goes wrong, runs. */
const sim = [
  "^sim/base/",
  "^sim/disks/",
  "^sim/network/",
  "^sim/crypto/",
  "^sim/requests/",
  "^sim/models/",
  "^sim/oracle/",
  "^sim/checkers/",
  "^sim/world/",
  "^sim/callers/",
  "^sim/faults/",
  "^sim/moments/",
  "^sim/schedules/",
  "^sim/run/",
  "^sim/bugs/",
  "^sim/explore/",
  "^sim/hunting/",
  "^sim/tape/",
  "^sim/shrink/",
  "^sim/show/",
  "^sim/bin/",
];

/**
 * What judges a run has notions of its own: of the core it may run whatever it judges, read and write its rows and
 * bytes, and name content by its digest. Types aside, nothing else: what a key, a credential, a response, a lock or a
 * permission is, how much may be, and what is allowed, it has from callers and from the contract's words.
 */
const judges =
  "^sim/((oracle|models|checkers|requests|run)/|callers/OpenRequests\\.ts$|world/(Attendance|Crowd|Deadlines|WrongClocks)\\.ts$)";

/** For every judge: forms of bytes and rows, which mean nothing by themselves. */
const forms = ["^core/codec/(Utf8|CborWriter)\\.ts$", "^core/base/Memo\\.ts$", "^core/protocol/(Tables|AllRows)\\.ts$"];

/** What some judges may use besides: which part of the core, who, and why. */
const borrowed = [
  ["commands/Commands", "models/Models", "what a world runs is what is judged; nothing is asked of it"],
  ["commands/enrollPasskey/EnrollmentState", "models/Models", "memory is shown as it is, and held against a restart"],
  [
    "commands/Effects",
    "models/Effects",
    "effects are bytes; what they read as is held against what callers sent (S30)",
  ],
  [
    "commands/approvers/Root",
    "models/approvers/ApproverSubject",
    "a digest of rows, which are judged themselves (S11, S12) and whose roots are compared (L3)",
  ],
  [
    "commands/keys/KeyRoot",
    "models/keys/KeySubject",
    "a digest of rows, which are judged themselves (K6, K7) and whose roots are compared (L3)",
  ],
  [
    "commands/(makeKey/KeygenEffects|destroyKey/DestroyKey)",
    "models/keys/KeyEffects",
    "effects are bytes; what they read as is held against what callers sent (S30)",
  ],
  ["threshold/Secret", "checkers/K5", "what a secret is, so that one in a value is found"],
  [
    "commands/approvers/Terms",
    "checkers/S13",
    "a wrong name of an index row leaves its approver out of a list, which S40 judges by the text of records",
  ],
  [
    "protocol/Boot",
    "checkers/S13",
    "one of two sides that are held against each other; what both get wrong, rows show (S9, S10, S13)",
  ],
  ["protocol/Message", "checkers/(S41|StatementsIn)", "messages of modules have models of their own"],
  [
    "commands/enrollPasskey/SessionMessages",
    "checkers/StatementsIn",
    "an answer in a message is bytes, read by its codec",
  ],
  [
    "protocol/Topology",
    "checkers/(Epochs|S19|S32)",
    "a digest of the bytes of a codec: what it left out would be gone from rows and messages, too",
  ],
  ["protocol/Proposal", "(checkers/S18|run/L9)", "the same, of a proposal"],
  ["protocol/Statement", "checkers/(StatementRows|S22|S31)", "the same, of statements and batches"],
  ["protocol/Restoration", "checkers/S22", "the same, of a restore"],
  [
    "protocol/Mode",
    "run/(Absence|L7|L11|LK2)",
    "whom progress is demanded of: one that is never active ends in L5, one that is too soon owes more (L7, L11)",
  ],
  ["protocol/Status", "run/Operable", "what it says is held against rows and plan"],
  ["protocol/PromotionStatus", "checkers/S59", "the same of a promotion, held against rows that became durable"],
  [
    "commands/approvers/ApproverIndex",
    "run/Rest",
    "an index that is never whole, or said to be too soon, is in every list (S40)",
  ],
].map(([what, by, why]) => ({ what: `^core/${what}\\.ts$`, by: `^sim/${by}\\.ts$`, why }));

const notionsOfTheirOwn = [
  {
    name: "judges-ask-the-core-nothing",
    comment: "what is right follows from what callers asked and from the contract's words; types may be shared",
    severity: "error",
    from: { path: judges, pathNot: "\\.test\\.ts$" },
    to: {
      path: "^core/",
      pathNot: [...forms, ...borrowed.map(({ what }) => what)],
      dependencyTypesNot: ["type-only"],
    },
  },
  ...borrowed.map(({ what, by, why }) => ({
    name: `only-some-judges-use-${what.slice(6, -5)}`,
    comment: why,
    severity: "error",
    from: { path: judges, pathNot: ["\\.test\\.ts$", by] },
    to: { path: what, dependencyTypesNot: ["type-only"] },
  })),
];

const upwards = [core, sim].flatMap((layers) =>
  layers.slice(0, -1).map((layer, index) => ({
    name: `no-way-up-from-${layer.slice(1)}`,
    severity: "error",
    from: { path: layer, pathNot: "\\.test\\.ts$" },
    to: { path: layers.slice(index + 1) },
  })),
);

/** The boundaries of the packages: core <- runtime <- { sim, server }; sim and server never meet but in the command line. */
module.exports = {
  forbidden: [
    {
      name: "no-circular",
      comment: "types of one folder may name each other; what runs may not",
      severity: "error",
      from: {},
      to: { circular: true, viaOnly: { dependencyTypesNot: ["type-only"] } },
    },
    ...upwards,
    ...notionsOfTheirOwn,
    {
      name: "the-api-sees-no-driver",
      comment: "what leads to it stands in server/peer/ApiPeer.ts",
      severity: "error",
      from: { path: "^server/http/", pathNot: "\\.test\\.ts$" },
      to: { path: ["^server/peer/Peer\\.ts$", "^runtime/PeerDriver\\.ts$", "^core/protocol/PeerState\\.ts$"] },
    },
    {
      name: "capacities-come-with-settings",
      comment: "messages are bounded by those of the service; nobody else knows how small the simulator draws them",
      severity: "error",
      from: {
        path: "^(core|runtime|sim|server)/",
        pathNot: [
          "\\.test\\.ts$",
          "^core/protocol/Message\\.ts$",
          "^sim/world/SimSettings\\.ts$",
          "^server/peer/FoundingSettings\\.ts$",
          "^server/http/endpoints/RegistryAnswers\\.ts$",
        ],
      },
      to: { path: "^core/base/Capacities\\.ts$", dependencyTypesNot: ["type-only"] },
    },
    {
      name: "every-folder-has-its-place",
      comment: "a new one in the order above",
      severity: "error",
      from: { path: "^(core|sim)/", pathNot: [...core, ...sim] },
      to: {},
    },
    { name: "not-resolved", severity: "error", from: {}, to: { couldNotResolve: true } },
    {
      name: "core-is-pure",
      comment: "core imports itself, data modules of effect, noble, @scure/base, the ASN.1 decoder, and nothing else",
      severity: "error",
      from: { path: "^core/", pathNot: "\\.test\\.ts$" },
      to: {
        pathNot: [
          "^core/",
          "^node_modules/effect/",
          "^node_modules/@noble/",
          "^node_modules/@scure/base/",
          "^node_modules/asn1js/",
        ],
      },
    },
    {
      name: "core-has-no-fibers",
      comment: "of effect, core may use only what is data",
      severity: "error",
      from: { path: "^core/", pathNot: "\\.test\\.ts$" },
      to: {
        path: "^node_modules/effect/dist/[^/]+/(Effect|Layer|Context|Fiber|Clock|Random|Runtime|Schedule|Stream|Queue)[A-Za-z]*\\.js$",
      },
    },
    {
      name: "core-is-tested-without-server",
      comment: "whatever a test of the core imports, and whatever that imports in turn",
      severity: "error",
      from: { path: "^core/.+\\.test\\.ts$" },
      to: { path: ["^server/", "^sim/"], reachable: true },
    },
    {
      name: "test-clusters-know-no-server",
      severity: "error",
      from: { path: "^properties/cluster/" },
      to: { path: "^server/" },
    },
    {
      name: "runtime-knows-core-only",
      severity: "error",
      from: { path: "^runtime/", pathNot: "\\.test\\.ts$" },
      to: { path: ["^sim/", "^server/", "^properties/"] },
    },
    {
      name: "no-node-in-runtime-and-sim",
      comment: "the simulator's command line is the one place that may touch the machine",
      severity: "error",
      from: { path: "^(runtime|sim)/", pathNot: ["\\.test\\.ts$", "^sim/bin/"] },
      to: { dependencyTypes: ["core"] },
    },
    {
      name: "sim-never-meets-server",
      severity: "error",
      from: { path: "^sim/", pathNot: ["\\.test\\.ts$", "^sim/bin/NativeBackend\\.ts$"] },
      to: { path: ["^server/", "^properties/"] },
    },
    {
      name: "sim-borrows-primitives-only",
      comment: "the simulator's command line computes with Node's own library, through the adapter that peers use",
      severity: "error",
      from: { path: "^sim/bin/NativeBackend\\.ts$" },
      to: { path: ["^server/", "^properties/"], pathNot: "^server/crypto/NativeCrypto\\.ts$" },
    },
    {
      name: "server-never-meets-sim",
      comment: "server/bin/custody.ts loads either lazily and holds no logic",
      severity: "error",
      from: { path: "^server/", pathNot: ["\\.test\\.ts$", "^server/bin/custody\\.ts$"] },
      to: { path: ["^sim/", "^properties/"] },
    },
    {
      name: "no-tests-in-production",
      severity: "error",
      from: { pathNot: ["\\.test\\.ts$", "^properties/"] },
      to: { path: "\\.test\\.ts$" },
    },
  ],
  options: {
    doNotFollow: { path: "node_modules" },
    tsConfig: { fileName: "tsconfig.json" },
    tsPreCompilationDeps: true,
    enhancedResolveOptions: {
      exportsFields: ["exports"],
      conditionNames: ["import", "node", "default", "types"],
      extensions: [".ts", ".js"],
    },
  },
};
