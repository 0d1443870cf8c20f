/** What can be seen and heard. Texts are set as texts: nothing of a link or an answer is ever markup. */

/** @param {string} id */
export const byId = (id) => {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no ${id}`);
  return found;
};

/**
 * @param {string} id
 * @param {string} text
 */
export const setText = (id, text) => {
  byId(id).textContent = text;
};

/**
 * @param {string} id
 * @param {boolean} isShown
 */
export const show = (id, isShown) => {
  byId(id).hidden = !isShown;
};

/**
 * Says how far things are; read aloud when the reader is idle.
 * @param {string} text
 */
export const say = (text) => setText("status", text);

/** @typedef {{title: string, detail: string, hint?: string, faults?: ReadonlyArray<string>, requestId?: string}} Shown */

/**
 * Shows what went wrong, read aloud at once; nothing when there is nothing to show.
 * @param {Shown | undefined} problem
 */
export const showProblem = (problem) => {
  const { title = "", detail = "", hint = "", faults = [], requestId = "" } = problem ?? {};
  setText("problem-title", title);
  setText("problem-detail", detail);
  setText("problem-hint", hint);
  setText("problem-request", requestId === "" ? "" : `Number of this request, for the operator: ${requestId}`);
  byId("problem-list").replaceChildren(
    ...faults.map((fault) => {
      const item = document.createElement("li");
      item.textContent = fault;
      return item;
    }),
  );
  show("problem-list", faults.length > 0);
  show("problem-request", requestId !== "");
  show("problem", problem !== undefined);
};
