/** Netlink messages as bytes: header, body, attributes (RFC 3549; linux/netlink.h). Little-endian machines. */

export const headerSize = 16

/** Flags of a request. */
export const flags = { request: 0x1, ack: 0x4, dump: 0x300, replace: 0x100, exclusive: 0x200, create: 0x400 } as const

/** Types of messages that are not the answer itself. */
export const controlTypes = { error: 2, done: 3 } as const

const nestedFlag = 0x8000
const typeMask = 0x3fff
const align = (size: number): number => (size + 3) & ~3

export interface Message {
  readonly type: number
  readonly sequence: number
  /** Without the header. */
  readonly body: Buffer
}

/** Encodes a request. */
export function encodeMessage(type: number, flagBits: number, sequence: number, body: Buffer): Buffer {
  const header = Buffer.alloc(headerSize)
  header.writeUInt32LE(headerSize + body.length, 0)
  header.writeUInt16LE(type, 4)
  header.writeUInt16LE(flagBits, 6)
  header.writeUInt32LE(sequence, 8)
  return Buffer.concat([header, body])
}

/** Returns the messages of what one `recv` returned. */
export function decodeMessages(bytes: Buffer): Message[] {
  const messages: Message[] = []
  for (let at = 0; at + headerSize <= bytes.length; ) {
    const length = bytes.readUInt32LE(at)
    if (length < headerSize || at + length > bytes.length) throw new Error('netlink: a message is cut off')
    messages.push({
      type: bytes.readUInt16LE(at + 4),
      sequence: bytes.readUInt32LE(at + 8),
      body: bytes.subarray(at + headerSize, at + length),
    })
    at += align(length)
  }
  return messages
}

/** Encodes an attribute, padded to four bytes. */
export function attribute(type: number, value: Buffer): Buffer {
  const bytes = attributeOfSize(type, value.length)
  value.copy(bytes, 4)
  return bytes
}

/** An attribute with space for a value after its first four bytes. */
export function attributeOfSize(type: number, size: number): Buffer {
  // Large transactions have a million attributes: memory of a pool is several times faster.
  const bytes = Buffer.allocUnsafe(align(4 + size))
  bytes.writeUInt16LE(4 + size, 0)
  bytes.writeUInt16LE(type, 2)
  bytes.fill(0, 4 + size)
  return bytes
}

/** An attribute that consists of attributes. */
export function nested(type: number, ...attributes: readonly Buffer[]): Buffer {
  const bytes = attributeOfSize(type | nestedFlag, sizeOf(attributes))
  let at = 4
  for (const part of attributes) at += part.copy(bytes, at)
  return bytes
}

/** The bytes of several buffers together. */
export function sizeOf(parts: readonly Buffer[]): number {
  let size = 0
  for (const part of parts) size += part.length
  return size
}

export const uint8 = (type: number, value: number): Buffer => attribute(type, Buffer.from([value]))

export function uint16(type: number, value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeUInt16LE(value)
  return attribute(type, bytes)
}

export function uint32(type: number, value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return attribute(type, bytes)
}

/** A text with its final zero. */
export const text = (type: number, value: string): Buffer => attribute(type, Buffer.from(`${value}\0`))

/** The attributes of a body after its fixed part. The last of equal types wins. */
export function decodeAttributes(body: Buffer, offset = 0): ReadonlyMap<number, Buffer> {
  const found = new Map<number, Buffer>()
  for (let at = offset; at + 4 <= body.length; ) {
    const length = body.readUInt16LE(at)
    if (length < 4 || at + length > body.length) break
    found.set(body.readUInt16LE(at + 2) & typeMask, body.subarray(at + 4, at + length))
    at += align(length)
  }
  return found
}

/** A text attribute without its final zero. */
export const textOf = (value: Buffer | undefined): string => value?.toString('utf8').replace(/\0+$/, '') ?? ''
