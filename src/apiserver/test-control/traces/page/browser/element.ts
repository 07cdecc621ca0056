/** Creates elements. Texts are text nodes only: objects of a cluster may contain HTML. */

type Child = Node | string | undefined

interface Attributes {
  readonly [name: string]: string | number | boolean | undefined
}

/** True sets an attribute without a value; false and undefined set none. */
export function element<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const result = document.createElement(tag)
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue
    result.setAttribute(name, value === true ? '' : String(value))
  }
  result.append(...children.filter((child) => child !== undefined))
  return result
}

/** A link to another place of the page. */
export const link = (hash: string, text: string): HTMLElement => element('a', { href: `#${hash}` }, text)

/** A list of names and values; undefined values are left out. */
export function facts(rows: readonly (readonly [string, Child])[]): HTMLElement {
  const shown = rows.filter(([, value]) => value !== undefined && value !== '')
  return element('dl', {}, ...shown.flatMap(([name, value]) => [element('dt', {}, name), element('dd', {}, value)]))
}

/** The parts of a hash, decoded. */
export const partsOf = (hash: string): string[] => hash.replace(/^#/, '').split('/').map(decoded)

function decoded(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

/** A hash of these parts. */
export const hashOf = (...parts: readonly (string | number)[]): string =>
  parts.map((part) => encodeURIComponent(part)).join('/')
