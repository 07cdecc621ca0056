import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { byPrefix, identity, type ValueTransformer } from '../value-transformer.ts'
import { aesCbc } from './aes-cbc.ts'
import { aesGcm } from './aes-gcm.ts'
import { secretbox } from './secretbox.ts'
import { seededGcm } from './seeded-gcm.ts'

const key = '/registry/secrets/default/s'
const value = Buffer.from('{"data":{"password":"cGFzc3dvcmQ="}}')
const providers: readonly (readonly [name: string, made: (secret: Buffer) => ValueTransformer, authenticatesKey: boolean])[] = [
  ['aescbc', aesCbc, false],
  ['aesgcm', aesGcm, true],
  ['secretbox', secretbox, false],
  ['seeded GCM', seededGcm, true],
]

for (const [name, made, authenticatesKey] of providers) {
  test(`${name}: what was written is read with the same secret only`, async () => {
    const secret = randomBytes(32)
    const stored = made(secret).encrypt(value, key)
    assert.equal(stored.includes('password'), false)
    assert.deepEqual(await made(secret).decrypt(stored, key), { value, stale: false })
    assert.notDeepEqual(made(secret).encrypt(value, key), stored)
    const other = (): unknown => made(randomBytes(32)).decrypt(stored, key)
    // CBC has nothing to tell by, but for the padding.
    if (name !== 'aescbc') assert.throws(other)
    assert.throws(() => made(secret).decrypt(Buffer.from('short'), key), /shorter/)
  })

  if (authenticatesKey) {
    test(`${name}: a value does not pass for another's`, () => {
      const transformer = made(randomBytes(32))
      assert.throws(() => transformer.decrypt(transformer.encrypt(value, key), '/registry/secrets/default/other'))
    })
  }
}

test('aescbc takes keys of 16, 24 and 32 bytes, and aesgcm too', async () => {
  for (const size of [16, 24, 32])
    for (const made of [aesCbc, aesGcm]) {
      const transformer = made(randomBytes(size))
      assert.deepEqual((await transformer.decrypt(transformer.encrypt(value, key), key)).value, value)
    }
})

test('the first writes; what another wrote is stale', async () => {
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
