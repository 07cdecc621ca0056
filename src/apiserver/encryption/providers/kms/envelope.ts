/** Decodes, validates and encodes the envelope stored with each value under KMS v2, and computes its cache key. */
import { create, fromBinary, toBinary } from '@bufbuild/protobuf'
import { type EncryptedObject, EncryptedObjectSchema, SourceType } from '#protobuf/kms-v2_pb.js'
import { bufferOf } from '../../../../lib/encoding/buffer-of.ts'
import { dnsSubdomain } from '../../../../machinery/validation/names.ts'

/** The fields of an envelope. */
export type Envelope = Omit<EncryptedObject, '$typeName' | '$unknown'>

const maxKeyIdBytes = 1024
const maxSourceBytes = 1024
const maxAnnotationBytes = 32 * 1024

export interface KeyIdFault {
  readonly code: 'empty' | 'too_long'
  readonly message: string
}

export function keyIdFault(keyId: string): KeyIdFault | undefined {
  if (!keyId) return { code: 'empty', message: 'keyID is empty' }
  const size = Buffer.byteLength(keyId)
  if (size <= maxKeyIdBytes) return undefined
  return { code: 'too_long', message: `keyID is ${size} bytes, which exceeds the max size of ${maxKeyIdBytes}` }
}

/** Throws an Error for an invalid envelope. */
export function decodeEnvelope(stored: Buffer): Envelope {
  let envelope: Envelope
  try {
    envelope = fromBinary(EncryptedObjectSchema, stored)
  } catch (cause) {
    throw new Error('proto: cannot parse invalid wire-format data', { cause })
  }
  checkEnvelope(envelope)
  return envelope
}

export const encodeEnvelope = (envelope: Envelope): Buffer =>
  bufferOf(toBinary(EncryptedObjectSchema, create(EncryptedObjectSchema, envelope)))

/** Throws an Error for an invalid envelope. */
export function checkEnvelope({ data, keyId, source, annotations, sourceType }: Envelope): void {
  if (sourceType !== SourceType.KEY && sourceType !== SourceType.SEED)
    throw new Error(`unknown encryptedDEKSourceType: ${sourceType}`)
  if (data.length === 0) throw new Error('encrypted data is empty')
  if (source.length === 0) throw new Error('failed to validate encrypted DEK source: encrypted DEK source is empty')
  if (source.length > maxSourceBytes)
    throw new Error(
      `failed to validate encrypted DEK source: encrypted DEK source is ${source.length} bytes, which exceeds ` +
        `the max size of ${maxSourceBytes}`,
    )
  const fault = keyIdFault(keyId)
  if (fault) throw new Error(`failed to validate key id: ${fault.message}`)
  const names = Object.keys(annotations)
  const wrong = names.find((name) => !name.includes('.') || dnsSubdomain(name).length > 0)
  if (wrong !== undefined)
    throw new Error(
      `failed to validate annotations: annotations: ${JSON.stringify(wrong)} should be a domain with at least ` +
        'two segments separated by dots',
    )
  const size = names.reduce((sum, name) => sum + Buffer.byteLength(name) + annotations[name]!.length, 0)
  if (size > maxAnnotationBytes)
    throw new Error(
      `failed to validate annotations: total size of annotations is ${size}, which exceeds the max size of ` +
        `${maxAnnotationBytes}`,
    )
}

/** The cache key: everything that is sent to the plug-in. */
export function identityOf({ source, keyId, annotations, sourceType }: Envelope): string {
  const sorted = Object.keys(annotations).sort()
  return JSON.stringify([
    sourceType,
    keyId,
    bufferOf(source).toString('base64'),
    ...sorted.map((name) => [name, bufferOf(annotations[name]!).toString('base64')]),
  ])
}
