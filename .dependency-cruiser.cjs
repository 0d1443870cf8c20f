/** The folders of the core, each of which may use those before it, types included. */
const core = [
  "^core/base/",
  "^core/codec/",
  "^core/crypto/",
  "^core/credential/",
  "^core/webauthn/",
  "^core/policy/",
  "^core/auth/",
  "^core/protocol/",
  "^core/commands/approvers/",
  "^core/commands/registerKey/",
  "^core/commands/replaceMetadata/",
  "^core/commands/enrollPasskey/",
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
