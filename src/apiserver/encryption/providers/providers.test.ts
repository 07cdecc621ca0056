import assert from 'node:assert/strict'
import { createCipheriv, randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { byPrefix, identity, type Transformed, type ValueTransformer } from '../value-transformer.ts'
import { aesCbc } from './aes-cbc.ts'
import { aesGcm } from './aes-gcm.ts'
import { secretbox } from './secretbox.ts'
import { seededGcm } from './seeded-gcm.ts'

const key = '/registry/secrets/default/s'
const value = Buffer.from('{"data":{"password":"cGFzc3dvcmQ="}}')
const providers: readonly (readonly [
  name: string,
  made: (secret: Buffer) => ValueTransformer,
  authenticatesKey: boolean,
])[] = [
  ['aescbc', aesCbc, false],
  ['aesgcm', aesGcm, true],
  ['secretbox', secretbox, false],
  ['seeded GCM', seededGcm, true],
]

for (const [name, made, authenticatesKey] of providers) {
  test(`${name}: a value can be decrypted with the same secret only`, async () => {
    const secret = randomBytes(32)
    const stored = made(secret).encrypt(value, key)
    assert.equal(stored.includes('password'), false)
    assert.deepEqual(await made(secret).decrypt(stored, key), { value, stale: false })
    assert.notDeepEqual(made(secret).encrypt(value, key), stored)
    const other = (): unknown => made(randomBytes(32)).decrypt(stored, key)
    // CBC detects only invalid padding.
    if (name !== 'aescbc') assert.throws(other)
    assert.throws(() => made(secret).decrypt(Buffer.from('short'), key), /shorter/)
  })

  if (authenticatesKey) {
    test(`${name}: a value cannot be moved to another key`, () => {
      const transformer = made(randomBytes(32))
      assert.throws(() => transformer.decrypt(transformer.encrypt(value, key), '/registry/secrets/default/other'))
    })
  }
}

test('aescbc and aesgcm accept keys of 16, 24 and 32 bytes', async () => {
  for (const size of [16, 24, 32])
    for (const made of [aesCbc, aesGcm]) {
      const transformer = made(randomBytes(size))
      assert.deepEqual((await transformer.decrypt(transformer.encrypt(value, key), key)).value, value)
    }
})

test('the first transformer encrypts, and values of the others are stale', async () => {
  const [old, next] = [aesGcm(randomBytes(32)), aesGcm(randomBytes(32))]
  const before = byPrefix([{ prefix: 'old:', transformer: old }])
  const after = byPrefix([
    { prefix: 'new:', transformer: next },
    { prefix: 'old:', transformer: old },
    { prefix: '', transformer: identity },
  ])
  assert.deepEqual(await after.decrypt(before.encrypt(value, key), key), { value, stale: true })
  assert.deepEqual(await after.decrypt(after.encrypt(value, key), key), { value, stale: false })
  assert.deepEqual(await after.decrypt(value, key), { value, stale: true })
  assert.throws(() => before.decrypt(value, key), /no matching prefix found/)
  assert.throws(() => after.decrypt(Buffer.from('k8s:enc:aescbc:v1:k:x'), key), /no matching prefix found/)
})

test('two providers with the same prefix allow key rotation', async () => {
  const [old, next] = [aesGcm(randomBytes(32)), aesGcm(randomBytes(32))]
  const kind = 'k8s:enc:aesgcm:v1:'
  const keyed = (name: string, transformer: ValueTransformer) => ({
    prefix: kind,
    transformer: byPrefix([{ prefix: `${name}:`, transformer }], undefined, 'no key'),
  })
  const stored = byPrefix([keyed('1', old)]).encrypt(value, key)
  assert.deepEqual(await byPrefix([keyed('2', next), keyed('1', old)]).decrypt(stored, key), { value, stale: true })
  // The same key name with another secret, and an asynchronous transformer.
  const later = { encrypt: old.encrypt, decrypt: async (bytes: Buffer, at: string) => next.decrypt(bytes, at) }
  assert.deepEqual(await byPrefix([keyed('1', later), keyed('1', old)]).decrypt(stored, key), { value, stale: true })
  await assert.rejects(async () => byPrefix([keyed('1', later), keyed('2', next)]).decrypt(stored, key), {
    message: '[cipher: message authentication failed, no key]',
  })
})

test('decryption errors have upstream’s messages', () => {
  const from = (made: (secret: Buffer) => ValueTransformer, stored: Buffer): unknown =>
    made(randomBytes(32)).decrypt(stored, key)
  assert.throws(() => from(aesGcm, Buffer.alloc(40)), { message: 'cipher: message authentication failed' })
  assert.throws(() => from(secretbox, Buffer.alloc(60)), {
    message: 'output array was not large enough for encryption',
  })
  assert.throws(() => from(aesCbc, Buffer.alloc(40)), {
    message: 'the stored data is not a multiple of the block size',
  })
  const secret = randomBytes(16)
  const unpadded = createCipheriv('aes-128-cbc', secret, Buffer.alloc(16)).setAutoPadding(false)
  const block = unpadded.update(Buffer.alloc(16))
  assert.throws(() => aesCbc(secret).decrypt(Buffer.concat([Buffer.alloc(16), block]), key), {
    message: 'invalid PKCS7 data (empty or not padded)',
  })
})

test('each attempt of a provider or key is counted with its result', async () => {
  const seen: string[] = []
  const transformed: Transformed = (direction, prefix, _seconds, error) =>
    void seen.push(`${direction} ${prefix} ${error === undefined ? 'OK' : 'failed'}`)
  const kept = byPrefix(
    [
      { prefix: '', transformer: identity },
      { prefix: 'k:', transformer: aesGcm(randomBytes(32)) },
    ],
    transformed,
  )
  kept.encrypt(value, key)
  await kept.decrypt(value, key)
  assert.throws(() => kept.decrypt(Buffer.from('k8s:enc:x'), key))
  assert.deepEqual(seen, ['to_storage  OK', 'from_storage identity OK', 'from_storage unknown failed'])
})
