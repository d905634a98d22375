/** Elements, made without markup: whatever a recording holds goes in as text. */

const SVG = "http://www.w3.org/2000/svg";

/** The element of the page with an id. */
export const byId = (id) => document.getElementById(id);

/** An HTML element. Attributes are this page's own; those that begin with "on" are listeners. */
export function make(name, attributes = {}, ...children) {
  return dressed(document.createElement(name), attributes, children);
}

/** An SVG element. */
export function draw(name, attributes = {}, ...children) {
  return dressed(document.createElementNS(SVG, name), attributes, children);
}

/** A button that shows a word. */
export const button = (text, press, attributes = {}) =>
  make("button", { type: "button", onclick: press, ...attributes }, text);

/** A part of the page with a heading of its own. */
export function section(kind, title, ...children) {
  const id = `title-${kind}`;
  const heading = make("h3", { id }, title);
  return make("section", { class: kind, "aria-labelledby": id }, heading, ...children);
}

/** Bring something into view inside its own box, without moving the page. */
export function scrollInside(box, node) {
  const outer = box.getBoundingClientRect();
  const inner = node.getBoundingClientRect();
  if (inner.top < outer.top || inner.bottom > outer.bottom) {
    box.scrollTop += inner.top - outer.top - (outer.height - inner.height) / 2;
  }
  if (inner.left < outer.left || inner.right > outer.right) {
    box.scrollLeft += inner.left - outer.left - (outer.width - inner.width) / 2;
  }
}

function dressed(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) {
      node.addEventListener(name.slice(2), value);
    } else if (value === true) {
      node.setAttribute(name, "");
    } else if (value !== false && value !== null && value !== undefined) {
      node.setAttribute(name, value);
    }
  }
  node.append(...children.filter((child) => child !== null && child !== ""));
  return node;
}
