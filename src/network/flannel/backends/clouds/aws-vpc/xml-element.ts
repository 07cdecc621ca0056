/** XML of answers of EC2: elements and texts. Attributes, comments and instructions are left out. */

export class XmlElement {
  readonly name: string
  readonly children: XmlElement[] = []
  text = ''

  constructor(name: string) {
    this.name = name
  }

  /** The first element at a path of names, `error/code`; undefined if there is none. */
  find(path: string): XmlElement | undefined {
    let found: XmlElement | undefined = this
    for (const name of path.split('/')) found = found?.children.find((child) => child.name === name)
    return found
  }

  /** The text of an element at a path; empty if there is none. */
  textOf(path: string): string {
    return this.find(path)?.text ?? ''
  }

  /** The elements `item` of a list at a path. */
  items(path: string): readonly XmlElement[] {
    return this.find(path)?.children.filter(({ name }) => name === 'item') ?? []
  }
}

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }
const tokenPattern = /<!--[\s\S]*?-->|<[?!][^>]*>|<(\/?)([^\s/>]+)[^>]*?(\/?)>|([^<]+)/g

/** Parses a document; returns its first element. @throws an Error for a text that is no XML. */
export function parseXml(text: string): XmlElement {
  const document = new XmlElement('')
  const open = [document]
  for (const [, slash, name, isEmpty, content] of text.matchAll(tokenPattern)) {
    const parent = open.at(-1)!
    if (content !== undefined) parent.text += decoded(content).trim()
    else if (name === undefined) continue
    else if (slash === '/') {
      if (open.length < 2 || parent.name !== name) throw new Error(`the element ${name} ends and has not begun`)
      open.pop()
    } else {
      const element = new XmlElement(name)
      parent.children.push(element)
      if (isEmpty !== '/') open.push(element)
    }
  }
  const [root] = document.children
  if (!root || open.length > 1) throw new Error('the answer is no complete XML')
  return root
}

const decoded = (text: string): string =>
  text.replace(/&(?:#x([0-9a-fA-F]+)|#(\d+)|(\w+));/g, (whole, hex?: string, decimal?: string, name?: string) => {
    if (name !== undefined) return entities[name] ?? whole
    return String.fromCodePoint(hex === undefined ? Number(decimal) : Number.parseInt(hex, 16))
  })
