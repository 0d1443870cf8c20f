/** Elements made of tags, attributes and children; texts are always texts, so that nothing of a run is ever markup. */

const SVG = "http://www.w3.org/2000/svg";

/** @typedef {Record<string, string | number | undefined>} Attributes */

/**
 * @param {Element} element
 * @param {Attributes} attributes
 * @param {ReadonlyArray<Node | string>} children
 */
const fill = (element, attributes, children) => {
  for (const [name, value] of Object.entries(attributes))
    if (value !== undefined) element.setAttribute(name, String(value));
  element.append(...children);
};

/**
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes} attributes
 * @param {ReadonlyArray<Node | string>} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export const html = (tag, attributes = {}, ...children) => {
  const element = document.createElement(tag);
  fill(element, attributes, children);
  return element;
};

/**
 * @template {keyof SVGElementTagNameMap} T
 * @param {T} tag
 * @param {Attributes} attributes
 * @param {ReadonlyArray<Node | string>} children
 * @returns {SVGElementTagNameMap[T]}
 */
export const svg = (tag, attributes = {}, ...children) => {
  const element = document.createElementNS(SVG, tag);
  fill(element, attributes, children);
  return element;
};

/**
 * A button with a text.
 * @param {string} text
 * @param {() => void} run
 * @param {Attributes} attributes
 */
export const button = (text, run, attributes = {}) => {
  const element = html("button", { type: "button", ...attributes }, text);
  element.addEventListener("click", run);
  return element;
};
