/** The two facts that contradict each other, and the last events about what each of them names. */
import { at, data } from "./Data.js";

/**
 * What a fact names: topics by their ids, and peers by their numbers.
 * @param {string} fact
 */
const namedIn = (fact) => {
  const words = new Set(fact.match(/\b[0-9a-f]{16,64}\b|\br\d+\b/g) ?? []);
  const topics = data.topics.flatMap(({ id }, number) =>
    words.has(id) || (id.includes("@") && fact.includes(id)) ? [number] : [],
  );
  return { topics, peers: [...fact.matchAll(/\bpeer (\d+)/g)].map(([, peer]) => Number(peer)) };
};

/**
 * The last row up to the violation at one of these peers about one of these topics.
 * @param {ReadonlyArray<number>} topics
 * @param {ReadonlyArray<number>} peers
 * @param {number} from
 */
const lastOf = (topics, peers, from) => {
  for (let row = from; row >= 0; row--) {
    const { about, peer } = at(data.moments, row);
    if (peers.length > 0 && !peers.includes(peer)) continue;
    if (topics.length === 0 || topics.some((topic) => about.includes(topic))) return row;
  }
  return undefined;
};

/** For each of the two facts: its text, and the last row about what it names. */
export const facts = (data.violation?.facts ?? []).map((text) => {
  const { topics, peers } = namedIn(text);
  // "It" is what the other fact is about.
  const meant = topics.length > 0 ? topics : (data.violation?.facts ?? []).flatMap((each) => namedIn(each).topics);
  const isVague = meant.length === 0 && peers.length === 0;
  return { text, row: isVague ? undefined : lastOf(meant, peers, data.violation?.row ?? -1) };
});

/** Numbers of the facts whose last event this is. @param {number} row */
export const factsAt = (row) => facts.flatMap((fact, index) => (fact.row === row ? [index + 1] : []));
