/** Messages of VICI, the protocol of strongSwan's control socket: a tree of sections, keys and lists as bytes. */

/** A text, a list of texts, or a section. */
export type ViciValue = string | readonly string[] | ViciSection
export interface ViciSection {
  readonly [name: string]: ViciValue
}

const elements = { sectionStart: 1, sectionEnd: 2, keyValue: 3, listStart: 4, listItem: 5, listEnd: 6 } as const
const maxNameSize = 255
const maxValueSize = 65_535

/** @throws an Error for a name or value that is too long. Values are not in its message. */
export function encodeSection(section: ViciSection): Buffer {
  return Buffer.concat(Object.entries(section).flatMap(([name, value]) => encodeElement(name, value)))
}

/** @throws an Error for bytes that are no message. */
export function decodeSection(bytes: Buffer): ViciSection {
  return new Reader(bytes).section(true)
}

/** Text with its size before it in one byte. */
export function encodeName(name: string): Buffer {
  const bytes = Buffer.from(name)
  if (bytes.length > maxNameSize) throw new Error(`the name ${name} is longer than ${maxNameSize} bytes`)
  return Buffer.concat([Buffer.from([bytes.length]), bytes])
}

function encodeElement(name: string, value: ViciValue): Buffer[] {
  const tag = encodeName(name)
  if (typeof value === 'string') return [Buffer.from([elements.keyValue]), tag, encodeValue(name, value)]
  if (isList(value))
    return [
      ...[Buffer.from([elements.listStart]), tag],
      ...value.flatMap((item) => [Buffer.from([elements.listItem]), encodeValue(name, item)]),
      Buffer.from([elements.listEnd]),
    ]
  return [Buffer.from([elements.sectionStart]), tag, encodeSection(value), Buffer.from([elements.sectionEnd])]
}

function encodeValue(name: string, value: string): Buffer {
  const bytes = Buffer.from(value)
  if (bytes.length > maxValueSize) throw new Error(`the value of ${name} is longer than ${maxValueSize} bytes`)
  const size = Buffer.alloc(2)
  size.writeUInt16BE(bytes.length)
  return Buffer.concat([size, bytes])
}

const isList = (value: ViciValue): value is readonly string[] => Array.isArray(value)

class Reader {
  readonly #bytes: Buffer
  #at = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  section(isRoot: boolean): ViciSection {
    // Names are those of connections: none of them is special.
    const found: { [name: string]: ViciValue } = Object.create(null)
    while (this.#at < this.#bytes.length) {
      const element = this.#number(1)
      if (element === elements.sectionEnd && !isRoot) return found
      if (element === elements.keyValue) found[this.#text(1)] = this.#text(2)
      else if (element === elements.sectionStart) found[this.#text(1)] = this.section(false)
      else if (element === elements.listStart) found[this.#text(1)] = this.#list()
      else throw new Error(`a message of charon has the unknown element ${element}`)
    }
    if (!isRoot) throw cutOff()
    return found
  }

  #list(): string[] {
    const items: string[] = []
    for (;;) {
      const element = this.#number(1)
      if (element === elements.listEnd) return items
      if (element !== elements.listItem) throw new Error(`a list of charon has the unknown element ${element}`)
      items.push(this.#text(2))
    }
  }

  #text(sizeBytes: number): string {
    const size = this.#number(sizeBytes)
    const end = this.#at + size
    if (end > this.#bytes.length) throw cutOff()
    const value = this.#bytes.toString('utf8', this.#at, end)
    this.#at = end
    return value
  }

  #number(size: number): number {
    if (this.#at + size > this.#bytes.length) throw cutOff()
    const value = this.#bytes.readUIntBE(this.#at, size)
    this.#at += size
    return value
  }
}

const cutOff = (): Error => new Error('a message of charon is cut off')
