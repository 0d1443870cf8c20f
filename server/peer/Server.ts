/** One running peer: everything opened in order, and closed in the opposite one. */
import { randomBytes } from "node:crypto";
import type { Server as NodeServer } from "node:http";
import { Server as HttpsServer } from "node:https";
import { fileURLToPath } from "node:url";
import { Effect, Either } from "effect";
import type { Scope } from "effect/Scope";
import type { Topology } from "../../core/protocol/Topology.ts";
import { SELF } from "../../core/protocol/Tables.ts";
import { SealedStore } from "../../runtime/SealedStore.ts";
import { Intake } from "../../runtime/transport/Intake.ts";
import { MailboxRoom } from "../../runtime/transport/MailboxRoom.ts";
import { WallClock } from "../../runtime/WallClock.ts";
import { openAuditSinks } from "../audit/AuditSinks.ts";
import { judgedBy, judgeOver } from "../auth/TokenJudge.ts";
import { openTokenVerifier } from "../auth/TokenVerifier.ts";
import { LiveBackups } from "../backup/LiveBackup.ts";
import { bootstrapSecretSource } from "../config/BootstrapSecret.ts";
import { loadConfig } from "../config/ConfigFile.ts";
import type { Config, ListenerConfig } from "../config/ConfigSchema.ts";
import { packageVersion } from "../config/Version.ts";
import { type CryptoBackend, cryptoBackend } from "../crypto/CryptoBackend.ts";
import { readEnrollmentPage } from "../enroll/EnrollmentPage.ts";
import type { ApiPorts } from "../http/ApiCall.ts";
import { type BodyBudgets, bodyBudgets } from "../http/BodyBudgets.ts";
import { LongReads } from "../http/LongReads.ts";
import { makePublicListener } from "../http/PublicListener.ts";
import type { ConnectionGuard } from "../net/ConnectionGuard.ts";
import { type Guards, makeGuards } from "../net/Guards.ts";
import { shamirProvider } from "../seal/ShamirSeal.ts";
import { beforeFirstStart } from "../sqlite/FirstStart.ts";
import { openSqliteByteStore } from "../sqlite/SqliteByteStore.ts";
import { isMarkedInitialized, markInitialized } from "../sqlite/StoreDirectory.ts";
import { openTelemetry, type Telemetry } from "../telemetry/Telemetry.ts";
import { loadUsableTls } from "../tls/Certificates.ts";
import { expiries, type ListenerTls, type TlsMaterial } from "../tls/TlsMaterial.ts";
import type { Outgoing } from "../transport/Outgoing.ts";
import { makePeerListener, type PeerEndpoint } from "../transport/PeerListener.ts";
import { Strangers } from "../transport/Strangers.ts";
import { openLinks, type PeerLinks } from "../transport/PeerLinks.ts";
import { apiPeerOf } from "./ApiPeer.ts";
import { declareCopied } from "./CopiedDisk.ts";
import { unsealFrom } from "./DevelopmentSecrets.ts";
import { foundingSettings } from "./FoundingSettings.ts";
import { closeListener, type Guarded, listen } from "./Listening.ts";
import { jsonLog, type Log } from "./Log.ts";
import { MemberClocks } from "./MemberClocks.ts";
import { Metrics, type Readings } from "./Metrics.ts";
import { type OpenedMetrics, openMetrics, scrapeOf } from "./MetricsListener.ts";
import { Peer } from "./Peer.ts";
import type { PeerPorts } from "./PeerPorts.ts";
import { makeReload } from "./Reload.ts";
import { tellArrival } from "./RequestTrail.ts";
import { OperatorAudit } from "./OperatorAudit.ts";
import { openOperatorFile } from "./OperatorFile.ts";
import { SealControl } from "./SealControl.ts";
import { type StartError, startError } from "./StartError.ts";
import { emptied, readingStore } from "./StoreAtStart.ts";

export interface ServerOptions {
  readonly configFile: string;
  /** The folder of `custody dev`; only for its clusters. */
  readonly devSecretsDir?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Makes every flush take this much longer, to measure what waits for it; never set by the command line. */
  readonly flushDelayMillis?: number;
}

/** How a server reaches the process it runs in. */
export interface ServerHost {
  readonly writeLog: (line: string) => void;
  /** The disk failed or a promise of this program was broken: nothing may go on. */
  readonly halt: () => void;
}

export interface RunningServer {
  readonly url: string;
  readonly peerUrl: string;
  /** Undefined without a listener for metrics. */
  readonly metricsUrl: string | undefined;
  readonly peer: Peer;
  /** Reads certificates, token keys and the log level anew; see {@link makeReload}. */
  readonly reload: () => Promise<void>;
}

/** Of this program. */
const VERSION = packageVersion(fileURLToPath(import.meta.url));
const now = (): number => Date.now();
const elapsedMillis = (): number => performance.now();

const starting = <A, E extends { readonly message: string }, R>(
  effect: Effect.Effect<A, E, R>,
): Effect.Effect<A, StartError, R> => Effect.mapError(effect, ({ message }) => startError(message));

/** What the public API is given as it is. */
type Given = "config" | "log" | "metrics" | "clock" | "control" | "judge" | "audit" | "warnings" | "backups";

interface Assembly extends Pick<ApiPorts, Given | "judgesTokens"> {
  readonly tls: TlsMaterial;
  readonly peer: Peer;
  readonly telemetry: Telemetry | undefined;
  readonly backend: CryptoBackend;
  readonly links: PeerLinks;
  readonly endpoint: PeerEndpoint;
  readonly reloadKeys: () => Promise<string | undefined>;
  readonly readings: () => Omit<Readings, "certificates" | BudgetReading>;
}

type BudgetReading = "bodyBytes" | "peerBodyBytes" | "connections" | "peerConnections";

const REMOVE_SECRET =
  "this cluster is founded and ignores the bootstrap secret; remove the setting and delete the secret on every machine";

const openPeer = (
  config: Config,
  { devSecretsDir, env, flushDelayMillis = 0 }: ServerOptions,
  { log, halt, closed }: { readonly log: Log; readonly halt: () => void; readonly closed: () => void },
): Effect.Effect<Assembly, StartError, Scope> =>
  Effect.gen(function* () {
    const tls = yield* starting(loadUsableTls(config, now()));
    const report = (fault: string): void => log.warn("token keys", { reason: fault });
    const verifier = yield* starting(openTokenVerifier(config, { now, elapsedMillis, report }));
    const stop = (reason: Error): void => {
      log.error("stopping", { reason: reason.message });
      halt();
    };
    // What cannot be read while it starts keeps it from starting. Later it ends, though nothing may be to be written:
    // it would say that it reads, and answer every read with 500.
    let isStarted = false;
    const unreadable = (failure: Error): void => {
      if (isStarted) stop(failure);
    };
    const directory = config.peer.dataDir;
    const bytes = yield* Effect.acquireRelease(
      starting(openSqliteByteStore({ directory, flushDelayMillis, failed: stop, unreadable, closed })),
      (store) =>
        Effect.catchAll(store.close, ({ message }) => Effect.sync(() => log.error("store", { reason: message }))),
    );
    yield* Effect.promise(verifier.keep);
    const journal = yield* openOperatorFile(config.peer.dataDir, (reason) => log.warn("operators", { reason }));
    const backend = cryptoBackend(config.crypto.backend);
    const { pinned, isInitialized } = yield* readingStore(() => {
      const rows = new SealedStore(bytes, backend.crypto);
      return { pinned: rows.get("topology", SELF), isInitialized: rows.get("peer", SELF) !== undefined };
    });
    if (!isInitialized && isMarkedInitialized(directory)) return yield* emptied(directory);
    const initialized = (): void => {
      try {
        markInitialized(directory);
      } catch {
        log.warn("peer.data-dir", { reason: "its mark of an initialized peer cannot be written; check the disk" });
      }
    };
    if (isInitialized) initialized();
    const settings = yield* foundingSettings({ config, env, devSecretsDir, pinned, isInitialized }, backend.crypto);
    const metrics = new Metrics();
    const self = (): number | undefined => peer.state.cluster.peer?.peerId;
    const telemetryPorts = { version: VERSION, self, metrics, log, now, elapsedMillis };
    const telemetry = yield* starting(openTelemetry(config, telemetryPorts));
    const traces = telemetry?.traces;
    const clock = new WallClock({
      clock: now,
      elapsed: elapsedMillis,
      stepped: (byMillis) => {
        metrics.count("custody_clock_steps_total", byMillis > 0 ? "ahead" : "back");
        log.warn("the clock of this machine was set", { byMillis });
      },
    });
    const leftover = bootstrapSecretSource(config, env);
    const warnOfSecret = (): void => {
      if (leftover !== undefined) log.warn("bootstrap secret is left over", { at: leftover, next: REMOVE_SECRET });
    };
    if (pinned !== undefined) warnOfSecret();
    const founded = ({ clusterId, members }: Topology): void => {
      log.info("founded", { clusterId, members: members.map(({ peerId }) => peerId).join(",") });
      warnOfSecret();
    };
    const clocks = new MemberClocks(settings.peers, now);
    const room = new MailboxRoom();
    const strangers = new Strangers(elapsedMillis);
    const links: PeerLinks = yield* Effect.acquireRelease(
      Effect.sync(() =>
        openLinks(config.cluster.peers, {
          tls: tls.peerClient,
          room,
          elapsedMillis,
          log,
          dropped: (peerId, reason) => {
            metrics.count("custody_messages_dropped_total", reason);
            log.debug("message dropped", { peerId, reason });
          },
          received: (envelope, parcel, peerId, member) =>
            intake.receiveAnswer(envelope, parcel, member, strangers.of(`peer ${peerId}`, member !== undefined)),
          session: () => peer.envelopes.session("opener"),
        }),
      ),
      (open) => Effect.sync(() => open.close()),
    );
    const send: PeerPorts["send"] = (to, message) => links.send(to, message);
    const peer: Peer = yield* Effect.acquireRelease(
      readingStore(
        () =>
          new Peer({
            bytes,
            journal,
            backend,
            settings,
            metrics,
            clock,
            elapsedMillis,
            judgesTokens: verifier.hasKeys,
            send,
            isInSession: (to) => links.to(to)?.isInSession === true,
            flushed: (millis, writes) => {
              metrics.observeFlush(millis);
              traces?.flushed(millis, writes);
            },
            founded,
            initialized,
            halt: stop,
          }),
      ),
      (running) => Effect.sync(() => running.stop()),
    );
    isStarted = true;
    const provider = shamirProvider(config.seal, (length) => Uint8Array.from(randomBytes(length)));
    const judge = judgeOver(verifier);
    const intake = new Intake<Uint8Array, Outgoing>({
      open: (envelope, member, scrutiny) => Either.merge(peer.envelopes.open(envelope, member, scrutiny)),
      judge: judgedBy(judge),
      deliver: (opened, actors, consumed) => {
        const to = self() ?? 0;
        clocks.saw(opened);
        tellArrival(log, to, opened.from, opened.message);
        peer.deliver(opened, actors, traces?.delivery(to, opened, consumed) ?? consumed);
      },
      unread: (unread, consumed) => peer.unread(unread, consumed),
      hold: (from, exchange) => links.hold(from, exchange),
      backlog: () => peer.backlog,
      room,
    });
    const endpoint: PeerEndpoint = {
      intake,
      session: () => peer.envelopes.session("accepter"),
      warranted: (warrant) => peer.envelopes.warranted(warrant),
      room,
      strangers,
      initialized: () => peer.state.cluster.peer !== undefined,
      answered: (status) => metrics.count("custody_peer_http_responses_total", String(status)),
    };
    const control = new SealControl({ peer, provider, backend, log });
    const audit = yield* Effect.acquireRelease(
      Effect.sync(
        () => new OperatorAudit({ record: (act) => peer.record(act), hasRoom: journal.hasRoom, log, metrics, now }),
      ),
      (open) => Effect.promise(() => open.flush()),
    );
    const sinks = yield* openAuditSinks(config, { reading: () => peer.reading, log, metrics });
    const warnings = (): ReadonlyArray<string> => [
      ...(leftover === undefined || peer.state.cluster.membership === undefined
        ? []
        : [`${leftover}: ${REMOVE_SECRET}`]),
      ...sinks.warnings(),
      ...journal.warnings(),
    ];
    const { reload: reloadKeys, hasKeys: judgesTokens } = verifier;
    yield* declareCopied(bytes, { peer, audit, log, now });
    const { whenErasing } = bytes;
    const backups = new LiveBackups({ directory, crypto: backend.crypto, peer, now, elapsedMillis, whenErasing });
    const readings: Assembly["readings"] = () => ({
      state: peer.state,
      version: VERSION,
      hasTokenKeys: judgesTokens(),
      members: settings.peers.map((peerId) => ({
        peerId,
        reachable: links.isReachable(peerId),
        clockAheadMillis: clocks.aheadMillis(peerId),
      })),
      backlog: peer.backlog,
      auditBehind: sinks.behind(),
    });
    const ports = { config, tls, log, metrics, clock, peer, control, links, endpoint, judge, audit, warnings };
    return { ...ports, telemetry, backend, backups, reloadKeys, judgesTokens, readings };
  });

interface Opened {
  readonly url: string;
  readonly server: NodeServer;
}

/** The peer API: up before the public one and down after it, because answers under way need it. */
const openPeerApi = (
  { config, tls, log, metrics, telemetry, endpoint, readings }: Assembly,
  guards: Guards,
  own: () => Pick<Readings, "bodyBytes" | "certificates">,
): Effect.Effect<Opened & { readonly metrics: OpenedMetrics | undefined }, StartError, Scope> =>
  Effect.gen(function* () {
    const all = (): Readings => ({
      ...readings(),
      ...own(),
      peerBodyBytes: listener.bodyBytes(),
      connections: guards.http.open,
      peerConnections: guards.peerHttp.open,
    });
    const scrape = scrapeOf(async () => metrics.render(all()), log);
    telemetry?.measureWith(async () => metrics.families(all()));
    const listener = makePeerListener({ ...endpoint, metrics: scrape }, tls.peerHttp, guards.peerHttp);
    const guarded = { server: listener.server, guard: guards.peerHttp };
    const url = yield* listenOn("peer-http", config.peerHttp, guarded, 0);
    return { url, server: listener.server, metrics: yield* openMetrics(config, tls.metrics, guards.metrics, scrape) };
  });

const listenOn = (name: string, at: ListenerConfig, guarded: Guarded, drainMillis: number) =>
  Effect.acquireRelease(listen(name, at, guarded), () => closeListener(guarded, drainMillis));

const openPublicApi = (
  assembly: Assembly,
  guard: ConnectionGuard,
  budgets: BodyBudgets,
): Effect.Effect<Opened, StartError, Scope> =>
  Effect.gen(function* () {
    const { config, tls, log, metrics, clock, peer, control, links, judge, audit, warnings } = assembly;
    const { backups, judgesTokens } = assembly;
    let draining = false;
    const ports: ApiPorts = {
      peer: apiPeerOf(peer),
      control,
      backend: assembly.backend,
      audit,
      backups,
      config,
      judge,
      judgesTokens,
      reachable: (peerId) => links.isReachable(peerId),
      warnings,
      ...budgets,
      longReads: new LongReads(elapsedMillis),
      page: readEnrollmentPage(),
      log,
      metrics,
      traces: assembly.telemetry?.traces,
      clock,
      elapsedMillis,
      draining: () => draining,
    };
    const server = makePublicListener(ports, tls.http, guard);
    const url = yield* listenOn("http", config.http, { server, guard }, config.approvers.answerTimeoutMillis);
    yield* Effect.addFinalizer(() => {
      draining = true;
      log.info("draining");
      // Balancers learn from the probes to send nothing more, while what they still send is answered.
      return Effect.sleep(config.limits.drainDelayMillis ?? 0);
    });
    return { url, server };
  });

/** Certificates of handshakes from now on; open connections stay as they are. */
const renew = (server: NodeServer, tls: ListenerTls | undefined): void => {
  if (tls !== undefined && server instanceof HttpsServer) server.setSecureContext(tls);
};

/**
 * Starts one peer inside a scope; closing the scope stops accepting, answers what
 * is under way within the answer timeout, and closes sockets and store.
 */
export const startServer = (
  options: ServerOptions,
  host: ServerHost,
): Effect.Effect<RunningServer, StartError, Scope> =>
  Effect.gen(function* () {
    const config = yield* starting(loadConfig(options.configFile, options.env));
    const log = jsonLog(config.peer.logLevel, host.writeLog, now);
    yield* Effect.addFinalizer(() => Effect.sync(() => log.info("stopped")));
    const start = { isDone: false };
    const undo = beforeFirstStart(config.peer.dataDir);
    const closed = (): void => (start.isDone ? undefined : undo());
    const assembly = yield* openPeer(config, options, { log, halt: host.halt, closed });
    const budgets = bodyBudgets(config);
    const held = (): number => budgets.budget.held + budgets.operatorBudget.held;
    const guards = makeGuards(config, { log, metrics: assembly.metrics, elapsedMillis });
    let tls = assembly.tls;
    const peerApi = yield* openPeerApi(assembly, guards, () => ({ bodyBytes: held(), certificates: expiries(tls) }));
    const publicApi = yield* openPublicApi(assembly, guards.http, budgets);
    start.isDone = true;
    const { reloadKeys, links } = assembly;
    const useTls = (renewed: Partial<TlsMaterial>): void => {
      tls = { ...tls, ...renewed };
      renew(publicApi.server, tls.http);
      renew(peerApi.server, tls.peerHttp);
      if (peerApi.metrics !== undefined) renew(peerApi.metrics.server, tls.metrics);
      for (const link of links.all) link.renew(tls.peerClient);
    };
    const reload = makeReload(config, { ...options, log, now, useTls, reloadKeys });
    if (options.devSecretsDir !== undefined) yield* unsealFrom(options.devSecretsDir, assembly);
    const [url, peerUrl, metricsUrl] = [publicApi.url, peerApi.url, peerApi.metrics?.url];
    log.info("listening", { url, peerUrl, metricsUrl });
    return { url, peerUrl, metricsUrl, peer: assembly.peer, reload };
  });
