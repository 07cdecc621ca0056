import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { memoryStore } from '../../storage/memory/index.ts'
import { storeSuite } from '../../storage/suite/store-suite.fixture.ts'
import { aesGcm } from './providers/aes-gcm.ts'
import { TransformedStore } from './transformed-store.ts'
import { byPrefix, type ValueTransformer } from './value-transformer.ts'

const secret = byPrefix([{ prefix: 'k8s:enc:aesgcm:v1:k:', transformer: aesGcm(randomBytes(32)) }])

/** Decrypts asynchronously, as a KMS plug-in does. */
const late: ValueTransformer = {
  encrypt: secret.encrypt,
  decrypt: async (stored, key) => {
    await new Promise(setImmediate)
    return secret.decrypt(stored, key)
  },
}

storeSuite('transformed store', async () => ({
  store: new TransformedStore(memoryStore(), () => secret),
  cleanup: async () => {},
}))

test('events with asynchronous decryption arrive in order, and the watch position waits for them', async () => {
  const inner = memoryStore()
  const writer = new TransformedStore(inner, () => secret)
  // Written by another server: the values are not cached.
  const reader = new TransformedStore(inner, (key) => (key.endsWith('slow') ? late : secret))
  const seen: string[] = []
  const watch = reader.watch({ start: '/a/', end: '/a0' }, await inner.currentRevision(), {
    events: (events) => seen.push(...events.map(({ key, value }) => `${key}=${value}`)),
    end: () => {},
  })
  const before = watch.position
  await writer.commit({ conditions: [], operations: [{ key: '/a/slow', value: Buffer.from('1') }] })
  await writer.commit({ conditions: [], operations: [{ key: '/a/fast', value: Buffer.from('2') }] })
  assert.equal(watch.position, before)
  while (seen.length < 2) await new Promise(setImmediate)
  assert.deepEqual(seen, ['/a/slow=1', '/a/fast=2'])
  assert.equal(watch.position, await inner.currentRevision())
  watch.stop()
})
