import assert from 'node:assert/strict'
import { test } from 'node:test'
import { SourceType } from '#protobuf/kms-v2_pb.js'
import { decodeEnvelope, type Envelope, encodeEnvelope } from './envelope.ts'

const envelope: Envelope = {
  data: Buffer.from('data'),
  keyId: 'key-1',
  source: Buffer.from('source'),
  annotations: { 'a.example.com': Buffer.from('1'), 'b.example.com': Buffer.alloc(0) },
  sourceType: SourceType.SEED,
}
/** The bytes that Go writes. */
const stored = Buffer.from(
  '\n\u0004data\u0012\u0005key-1\u001a\u0006source' +
    '"\u0012\n\ra.example.com\u0012\u00011"\u0011\n\rb.example.com\u0012\0(\u0001',
)

const fieldsOf = ({ data, keyId, source, annotations, sourceType }: Envelope) => ({
  data: Buffer.from(data).toString(),
  keyId,
  source: Buffer.from(source).toString(),
  annotations: Object.entries(annotations).map(([name, value]) => [name, Buffer.from(value).toString()]),
  sourceType,
})

test('an envelope has the bytes of upstream', () => {
  assert.deepEqual(encodeEnvelope(envelope), stored)
  assert.deepEqual(fieldsOf(decodeEnvelope(stored)), fieldsOf(envelope))
})

test('an annotation without a value is empty, and unknown fields are ignored', () => {
  const bytes = Buffer.from('\n\u0004data\u0012\u0005key-1\u001a\u0006source"\u000f\n\rb.example.com(\u0001:\u0003new')
  assert.deepEqual(fieldsOf(decodeEnvelope(bytes)), { ...fieldsOf(envelope), annotations: [['b.example.com', '']] })
})

test('an annotation with a name of JavaScript is rejected as any invalid one', () => {
  const bytes = Buffer.concat([stored, Buffer.from('"\u000e\n\t__proto__\u0012\u00011')])
  assert.throws(() => decodeEnvelope(bytes), {
    message:
      'failed to validate annotations: annotations: "__proto__" should be a domain with at least two segments ' +
      'separated by dots',
  })
})

test('bytes that are no envelope are rejected', () => {
  for (const bytes of [stored.subarray(0, -1), stored.subarray(0, 10), Buffer.from([0xff]), Buffer.from('\u000f')])
    assert.throws(() => decodeEnvelope(bytes), { message: 'proto: cannot parse invalid wire-format data' })
})

test('an envelope of an unknown source is rejected', () => {
  const bytes = Buffer.concat([stored.subarray(0, -1), Buffer.from([2])])
  assert.throws(() => decodeEnvelope(bytes), { message: 'unknown encryptedDEKSourceType: 2' })
  assert.throws(() => decodeEnvelope(Buffer.alloc(0)), { message: 'encrypted data is empty' })
})
