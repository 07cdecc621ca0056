/** Protobuf messages of KMS v2: those of its gRPC service (k8s.io/kms/apis/v2) and the stored envelope. */
import { WireReader, wireTypes } from '../../../../machinery/protobuf/wire.ts'

export type Annotations = Readonly<Record<string, Buffer>>

export interface KmsStatus {
  readonly version: string
  /** `ok`, or the problem. */
  readonly healthz: string
  readonly keyId: string
}

/** A seed encrypted by the plug-in. */
export interface Sealed {
  readonly ciphertext: Buffer
  readonly keyId: string
  readonly annotations: Annotations
}

/** The source of a value's key: the decrypted source itself, or derived from it as a seed. */
export const sourceTypes = { key: 0, seed: 1 } as const

export interface EncryptedObject {
  readonly data: Buffer
  readonly keyId: string
  readonly source: Buffer
  readonly annotations: Annotations
  readonly sourceType: number
}

function varint(value: number): Buffer {
  const bytes: number[] = []
  for (let rest = value; ; rest >>>= 7) {
    if (rest < 0x80) return Buffer.from([...bytes, rest])
    bytes.push((rest & 0x7f) | 0x80)
  }
}

/** A length-delimited field; omitted if empty. */
function field(number: number, content: string | Buffer): Buffer {
  const bytes = Buffer.from(content)
  return bytes.length === 0 ? bytes : Buffer.concat([varint(number * 8 + wireTypes.bytes), varint(bytes.length), bytes])
}

const entries = (number: number, annotations: Annotations): Buffer[] =>
  Object.entries(annotations).map(([key, value]) => field(number, Buffer.concat([field(1, key), field(2, value)])))

interface Fields {
  readonly bytes: Readonly<Record<number, Buffer>>
  readonly numbers: Readonly<Record<number, number>>
  readonly annotations: Annotations
}

/** Parses a message whose field `annotationsField` is a map from strings to bytes. */
function read(message: Buffer, name: string, annotationsField = 0): Fields {
  const reader = new WireReader(message)
  const bytes: Record<number, Buffer> = {}
  const numbers: Record<number, number> = {}
  const annotations: [string, Buffer][] = []
  while (!reader.done) {
    const { number, wireType } = reader.tag(name)
    if (wireType === wireTypes.varint) numbers[number] = reader.unsigned()
    else if (wireType !== wireTypes.bytes) reader.skip(wireType)
    else if (number !== annotationsField) bytes[number] = reader.slice()
    else {
      const { bytes: entry } = read(reader.slice(), `${name}.AnnotationsEntry`)
      annotations.push([(entry[1] ?? Buffer.alloc(0)).toString(), entry[2] ?? Buffer.alloc(0)])
    }
  }
  return { bytes, numbers, annotations: Object.fromEntries(annotations) }
}

const none = Buffer.alloc(0)

export const statusRequest = none

export function readStatus(message: Buffer): KmsStatus {
  const { bytes } = read(message, 'StatusResponse')
  const text = (number: number): string => (bytes[number] ?? none).toString()
  return { version: text(1), healthz: text(2), keyId: text(3) }
}

export const encryptRequest = (plaintext: Buffer, uid: string): Buffer =>
  Buffer.concat([field(1, plaintext), field(2, uid)])

export function readSealed(message: Buffer): Sealed {
  const { bytes, annotations } = read(message, 'EncryptResponse', 3)
  return { ciphertext: bytes[1] ?? none, keyId: (bytes[2] ?? none).toString(), annotations }
}

export const decryptRequest = ({ ciphertext, keyId, annotations }: Sealed, uid: string): Buffer =>
  Buffer.concat([field(1, ciphertext), field(2, uid), field(3, keyId), ...entries(4, annotations)])

export const readPlaintext = (message: Buffer): Buffer => read(message, 'DecryptResponse').bytes[1] ?? none

export const encryptedObject = ({ data, keyId, source, annotations, sourceType }: EncryptedObject): Buffer =>
  Buffer.concat([
    field(1, data),
    field(2, keyId),
    field(3, source),
    ...entries(4, annotations),
    ...(sourceType ? [varint(5 * 8 + wireTypes.varint), varint(sourceType)] : []),
  ])

export function readEncryptedObject(message: Buffer): EncryptedObject {
  const { bytes, numbers, annotations } = read(message, 'EncryptedObject', 4)
  return {
    data: bytes[1] ?? none,
    keyId: (bytes[2] ?? none).toString(),
    source: bytes[3] ?? none,
    annotations,
    sourceType: numbers[5] ?? sourceTypes.key,
  }
}
