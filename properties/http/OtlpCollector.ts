/** A collector on loopback that keeps what it is sent, or behaves as badly as it is told to. */
import { createServer, type IncomingHttpHeaders } from "node:http";
import { createServer as createTcpServer, type Server, type Socket } from "node:net";

/** Takes everything; answers with a status; never answers; answers with bytes that are no HTTP; never ends its answer. */
export type Manner = "take" | number | "hang" | "garbage" | "endless";

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: number };
}

export interface SeenSpan {
  /** The peer that sent it. */
  readonly by: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: number;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: ReadonlyArray<Attribute>;
  readonly links: ReadonlyArray<{ readonly traceId: string; readonly spanId: string }>;
  readonly status: { readonly code?: number };
}

export const attributesOf = (attributes: ReadonlyArray<Attribute>): Readonly<Record<string, unknown>> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

interface SeenPoint {
  readonly attributes: ReadonlyArray<Attribute>;
  readonly asDouble?: number;
  readonly count?: number;
  readonly bucketCounts?: ReadonlyArray<number>;
  readonly explicitBounds?: ReadonlyArray<number>;
}

interface Points {
  readonly dataPoints: ReadonlyArray<SeenPoint>;
}

interface SeenMetric {
  readonly name: string;
  readonly sum?: Points;
  readonly gauge?: Points;
  readonly histogram?: Points;
}

interface FromPeer {
  readonly resource: { readonly attributes: ReadonlyArray<Attribute> };
}

interface SeenTraces {
  readonly resourceSpans: ReadonlyArray<
    FromPeer & { readonly scopeSpans: ReadonlyArray<{ readonly spans: ReadonlyArray<Omit<SeenSpan, "by">> }> }
  >;
}

interface SeenMetrics {
  readonly resourceMetrics: ReadonlyArray<
    FromPeer & { readonly scopeMetrics: ReadonlyArray<{ readonly metrics: ReadonlyArray<SeenMetric> }> }
  >;
}

const instanceOf = ({ resource }: FromPeer): string => String(attributesOf(resource.attributes)["service.instance.id"]);

export class OtlpCollector {
  manner: Manner = "take";
  /** Bodies as they came, by path. */
  readonly bodies: Array<{ readonly path: string; readonly text: string }> = [];
  readonly headers: Array<IncomingHttpHeaders> = [];
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  #port = 0;

  private constructor(server: Server) {
    this.#server = server;
  }

  static async open(): Promise<OtlpCollector> {
    const http = createServer((request, response) => {
      collector.headers.push(request.headers);
      let text = "";
      request.on("data", (chunk) => (text += String(chunk)));
      request.on("end", () => {
        collector.bodies.push({ path: request.url ?? "", text });
        const { manner } = collector;
        if (manner === "hang") return;
        if (manner === "garbage") return void request.socket.end("NO HTTP AT ALL\r\n\r\n");
        if (manner === "endless") {
          response.writeHead(200, { "content-type": "application/json" });
          const more = (): boolean => !response.destroyed && response.write("x".repeat(65_536), () => void more());
          return void more();
        }
        const location = `${collector.url}/elsewhere`;
        response.writeHead(manner === "take" ? 200 : manner, { location }).end("{}");
      });
    });
    const collector = new OtlpCollector(createTcpServer((socket) => void http.emit("connection", socket)));
    collector.#server.on("connection", (socket) => {
      collector.#sockets.add(socket);
      socket.on("error", () => undefined);
      socket.on("close", () => collector.#sockets.delete(socket));
    });
    await new Promise<void>((resolve) => void collector.#server.listen(0, "127.0.0.1", resolve));
    const address = collector.#server.address();
    collector.#port = typeof address === "object" && address !== null ? address.port : 0;
    return collector;
  }

  /** Also where it has been closed. */
  get url(): string {
    return `http://127.0.0.1:${this.#port}`;
  }

  get openSockets(): number {
    return this.#sockets.size;
  }

  get spans(): ReadonlyArray<SeenSpan> {
    const traces = this.#texts("/v1/traces").map((text): SeenTraces => JSON.parse(text));
    return traces.flatMap(({ resourceSpans }) =>
      resourceSpans.flatMap((each) =>
        each.scopeSpans.flatMap(({ spans }) => spans.map((span) => ({ ...span, by: instanceOf(each) }))),
      ),
    );
  }

  /** The metrics that a peer sent last, each with its points. */
  metricsOf(by: string): ReadonlyMap<string, ReadonlyArray<SeenPoint>> {
    const all = this.#texts("/v1/metrics").map((text): SeenMetrics => JSON.parse(text));
    const last = all.flatMap(({ resourceMetrics }) => resourceMetrics).findLast((each) => instanceOf(each) === by);
    const metrics = last?.scopeMetrics.flatMap((each) => each.metrics) ?? [];
    return new Map(
      metrics.map(({ name, sum, gauge, histogram }) => [name, (sum ?? gauge ?? histogram)?.dataPoints ?? []]),
    );
  }

  #texts(path: string): ReadonlyArray<string> {
    return this.bodies.filter((body) => body.path === path).map(({ text }) => text);
  }

  close(): void {
    this.#server.close();
    for (const socket of this.#sockets) socket.destroy();
  }
}
