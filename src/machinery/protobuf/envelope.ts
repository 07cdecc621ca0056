/** The envelope of Kubernetes' protobuf: four magic bytes and a `runtime.Unknown` with the type and the message. */
import { DecodeError } from '../decode/decode-error.ts'
import { WireReader, wireTypes } from './wire.ts'

/** `k8s` and a zero. */
export const magic = Buffer.from([0x6b, 0x38, 0x73, 0x00])

/** Returns true for the first bytes of an envelope. */
export const isProtobuf = (bytes: Buffer): boolean => bytes.subarray(0, magic.length).equals(magic)

export interface Envelope {
  readonly apiVersion: string
  readonly kind: string
  /** The bytes of the message. */
  readonly raw: Buffer
}

/** Opens the envelope. Throws DecodeError with upstream's message. */
export function openEnvelope(bytes: Buffer): Envelope {
  if (bytes.length === 0) throw new DecodeError('empty data')
  if (!isProtobuf(bytes)) {
    throw new DecodeError(
      `provided data does not appear to be a protobuf message, expected prefix [${magic.join(' ')}]`,
    )
  }
  if (bytes.length === magic.length) throw new DecodeError('empty body')
  const reader = new WireReader(bytes.subarray(magic.length))
  let raw: Buffer = Buffer.alloc(0)
  let type = { apiVersion: '', kind: '' }
  while (!reader.done) {
    const { number, wireType } = reader.tag('Unknown')
    if (number > 4) reader.skip(wireType)
    else if (wireType !== wireTypes.bytes)
      throw new DecodeError(`proto: wrong wireType = ${wireType} for field ${names[number - 1]}`)
    else if (number === 1) type = reader.message(() => typeMeta(reader))
    else if (number === 2) raw = reader.slice()
    // Upstream ignores the content encoding and type, too.
    else reader.skip(wireType)
  }
  return { ...type, raw }
}

const names = ['TypeMeta', 'Raw', 'ContentEncoding', 'ContentType']

function typeMeta(reader: WireReader): { apiVersion: string; kind: string } {
  const type = { apiVersion: '', kind: '' }
  while (!reader.done) {
    const { number, wireType } = reader.tag('TypeMeta')
    if (number > 2) reader.skip(wireType)
    else if (wireType !== wireTypes.bytes)
      throw new DecodeError(`proto: wrong wireType = ${wireType} for field ${number === 1 ? 'APIVersion' : 'Kind'}`)
    else if (number === 1) type.apiVersion = reader.text()
    else type.kind = reader.text()
  }
  return type
}
