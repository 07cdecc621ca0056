/** Reads the queries of clients. */
import { readName } from './names.ts'
import { headerBytes, headerFlags, rcodes, types } from './record-types.ts'

/** The extension of a query (RFC 6891). */
export interface Edns {
  /** Bytes of an answer by UDP that the client can take. */
  readonly size: number
  /** The client wants signatures (DNSSEC OK). */
  readonly wantsSignatures: boolean
}

/** A question with what its answer repeats. */
export interface Query {
  readonly id: number
  /** The second word of the header. */
  readonly flags: number
  /** The question as the client wrote it: name, type and class. */
  readonly question: Buffer
  /** Labels in lower case, as byte strings. */
  readonly labels: readonly string[]
  readonly type: number
  readonly class: number
  readonly edns: Edns | undefined
  /** Equal for queries whose responses differ by nothing but their ID and the case of the name. */
  readonly key: string
  /** The whole message, for upstream servers. */
  readonly message: Buffer
}

/** A message that has an answer without a look at its name. */
export interface Refused {
  readonly id: number
  readonly flags: number
  readonly rcode: number
}

const opcodeBits = 0x7800

/** Returns undefined for what gets no answer: responses, and messages without a header. */
export function readQuery(message: Buffer): Query | Refused | undefined {
  if (message.length < headerBytes) return undefined
  const id = message.readUInt16BE(0)
  const flags = message.readUInt16BE(2)
  if ((flags & headerFlags.response) !== 0) return undefined
  if ((flags & opcodeBits) !== 0) return { id, flags, rcode: rcodes.NOTIMP }
  try {
    return readQuestion(message, id, flags)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return { id, flags, rcode: rcodes.FORMERR }
  }
}

function readQuestion(message: Buffer, id: number, flags: number): Query | Refused {
  const [questions, answers, authorities, additional] = [4, 6, 8, 10].map((at) => message.readUInt16BE(at))
  if (questions !== 1 || answers !== 0 || authorities !== 0) return { id, flags, rcode: rcodes.FORMERR }
  const { labels, end } = readName(message, headerBytes)
  const type = message.readUInt16BE(end)
  const klass = message.readUInt16BE(end + 2)
  const edns = readEdns(message, end + 4, additional ?? 0)
  if (edns === 'bad version') return { id, flags, rcode: rcodes.BADVERS }
  return {
    id,
    flags,
    question: message.subarray(headerBytes, end + 4),
    labels: labels.map((label) => label.toLowerCase()),
    type,
    class: klass,
    edns,
    key: `${message.toString('latin1', headerBytes, end).toLowerCase()}/${type}/${klass}/${variant(flags, edns)}`,
    message,
  }
}

/** The other parts of a query that change its response. */
const variant = (flags: number, edns: Edns | undefined): string =>
  `${flags & headerFlags.checkingDisabled ? 'c' : ''}${edns ? 'e' : ''}${edns?.wantsSignatures ? 's' : ''}`

/** Sizes below this one mean this one. */
const minimumSize = 512

function readEdns(message: Buffer, start: number, count: number): Edns | 'bad version' | undefined {
  let at = start
  let found: Edns | undefined
  for (let i = 0; i < count; i++) {
    const { end, labels } = readName(message, at)
    const type = message.readUInt16BE(end)
    const size = message.readUInt16BE(end + 2)
    const dataLength = message.readUInt16BE(end + 8)
    if (end + 10 + dataLength > message.length) throw new RangeError('a record leaves the message')
    if (type === types.OPT) {
      if (labels.length > 0 || found) throw new RangeError('a message has one OPT record, of the root')
      if (message[end + 5] !== 0) return 'bad version'
      const wantsSignatures = (message.readUInt16BE(end + 6) & 0x8000) !== 0
      found = { size: Math.max(size, minimumSize), wantsSignatures }
    }
    at = end + 10 + dataLength
  }
  return found
}
