/** The run as it lies in the page, and the questions that everything else asks of it. */

/** @typedef {import("../PictureData.ts").PictureData} PictureData */
/** @typedef {import("../PictureData.ts").MomentData} MomentData */
/** @typedef {import("../PictureData.ts").MessageData} MessageData */
/** @typedef {import("../PictureData.ts").CopyData} CopyData */

/**
 * An element of the page that must be there.
 * @param {string} id
 */
export const byId = (id) => {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no element ${id}`);
  return found;
};

/**
 * An element of a list that must be there.
 * @template T
 * @param {ReadonlyArray<T>} list
 * @param {number} index
 * @returns {T}
 */
export const at = (list, index) => {
  const found = list[index];
  if (found === undefined) throw new Error(`nothing at ${index}`);
  return found;
};

/** @type {PictureData} */
export const data = JSON.parse(byId("data").textContent ?? "");

export const peerCount = data.lanes.length;
export const lastRow = data.moments.length - 1;

/** Messages by what they are for: name, title, types. */
export const families = /** @type {const} */ ([
  ["founding", "Founding", ["GenesisCard", "GenesisVote", "GenesisPinned", "GenesisRefused"]],
  ["readiness", "Readiness", ["ReadyProbe", "Ready"]],
  ["requests", "Requests between peers", ["Forward", "Forwarded", "Outcome"]],
  ["prepare", "Prepare", ["Prepare"]],
  ["votes", "Votes", ["Votes"]],
  ["commit", "Commit", ["Commit", "CommitAcks"]],
  ["settlement", "Settlement", ["SettleQuery", "SettleAnswer", "AbortRequest"]],
  ["restore", "Restore", ["SnapshotRequest", "SnapshotOffer"]],
  ["other", "Other messages", []],
]);

/** @type {Map<string, string>} */
const familyByType = new Map();
for (const [name, , types] of families) for (const type of types) familyByType.set(type, name);

/** @param {string} type */
export const familyOf = (type) => familyByType.get(type) ?? "other";

/** What else happens: name, title, kinds. */
export const happenings = /** @type {const} */ ([
  ["flushes", "Flushes", ["flush"]],
  ["timers", "Timers", ["timer"]],
  ["processes", "Crashes, starts and pauses", ["crash", "start", "pause", "resume"]],
  ["seals", "Seals", ["seal", "verify", "unseal"]],
  ["callers", "Callers", ["request", "reply", "silence", "unreachable"]],
  ["reads", "Reads", ["read", "readiness"]],
  ["faults", "Faults and conditions", ["fault", "network", "healed"]],
  ["acts", "Acts of their own", ["acts"]],
]);

/** @type {Map<string, string>} */
const happeningByKind = new Map();
for (const [name, , kinds] of happenings) for (const kind of kinds) happeningByKind.set(kind, name);

/**
 * The name under which the filters know a moment.
 * @param {MomentData} moment
 */
export const groupOf = ({ kind, message }) =>
  message === undefined ? (happeningByKind.get(kind) ?? "acts") : familyOf(at(data.messages, message).type);

/** Rows by topic, ascending. */
export const rowsByTopic = data.topics.map(() => /** @type {Array<number>} */ ([]));
data.moments.forEach(({ about }, row) => {
  for (const topic of about) at(rowsByTopic, topic).push(row);
});

/**
 * The first row at or after a time.
 * @param {number} micros
 */
export const rowAt = (micros) => {
  let low = 0;
  let high = data.moments.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (at(data.moments, middle).at < micros) low = middle + 1;
    else high = middle;
  }
  return low;
};

/**
 * Seconds with six digits, in groups.
 * @param {number} micros
 */
export const timeText = (micros) => {
  const digits = String(micros).padStart(7, "0");
  return `${digits.slice(0, -6)}.${digits.slice(-6, -3)} ${digits.slice(-3)}`;
};

/**
 * How long something took, to three digits.
 * @param {number} micros
 */
export const spanText = (micros) => {
  if (micros < 1000) return `${micros} µs`;
  if (micros < 1_000_000) return `${Number((micros / 1000).toPrecision(3))} ms`;
  return `${Number((micros / 1_000_000).toPrecision(4))} s`;
};

/**
 * Calls with every value of the pool and what it holds directly; what is held comes before what holds it.
 * @param {number} index
 * @returns {{ kind: "plain", value: string | number | boolean | null } | { kind: "list", items: ReadonlyArray<number> } | { kind: "record", names: ReadonlyArray<string>, items: ReadonlyArray<number> }}
 */
export const valueAt = (index) => {
  const entry = data.pool[index];
  if (entry === undefined) throw new Error(`no value ${index}`);
  if (typeof entry !== "object" || entry === null) return { kind: "plain", value: entry };
  const [shape = -1, ...items] = entry;
  return shape === -1 ? { kind: "list", items } : { kind: "record", names: at(data.shapes, shape), items };
};

/**
 * @param {number} index
 * @returns {string}
 */
export const plainAt = (index) => {
  const value = valueAt(index);
  return value.kind === "plain" ? String(value.value) : "";
};

/**
 * How a message ended, in words.
 * @param {MessageData} message
 */
export const fateText = ({ copies, isCut, to }) => {
  if (copies.length === 0) return isCut ? "lost: the link is cut" : "lost on the way";
  const ends = copies.map(({ fate }) =>
    fate === "nobody there" ? `peer ${to} is down` : fate === "under way" ? "still under way" : fate,
  );
  return copies.length > 1 ? `${copies.length} copies: ${ends.join(", ")}` : (ends[0] ?? "");
};
