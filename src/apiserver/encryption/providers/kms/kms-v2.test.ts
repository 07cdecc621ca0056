import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { MetricsRegistry } from '../../../../lib/metrics/registry.ts'
import { encryptionMetrics, hashOf } from '../../metrics.ts'
import type { KeyService, KmsStatus } from './kms-service.ts'
import { KmsV2 } from './kms-v2.ts'

const path = '/registry/secrets/default/s'
const value = Buffer.from('value')

/** A plug-in with a status and a clock controlled by the test. */
function provider(status: Partial<KmsStatus> = {}) {
  const registry = new MetricsRegistry()
  const said = {
    version: 'v2',
    healthz: 'ok',
    keyId: '1',
    ...status,
    encryptKeyId: status.keyId ?? '1',
    encrypts: 0,
    now: 0,
  }
  const service: KeyService = {
    status: async () => said,
    encrypt: async (plaintext) => {
      said.encrypts++
      return { ciphertext: plaintext, keyId: said.encryptKeyId, annotations: {} }
    },
    decrypt: async ({ ciphertext }) => ciphertext,
    close: () => {},
  }
  const kms = new KmsV2({
    name: 'testplugin',
    service,
    metrics: encryptionMetrics(registry),
    log: () => {},
    now: () => said.now,
  })
  return { said, kms, metrics: () => registry.render() }
}

describe('a plug-in is unhealthy', () => {
  const id = 'a'.repeat(1025)
  const cases: readonly (readonly [string, Partial<KmsStatus>, string, string | undefined])[] = [
    [
      'with an empty status',
      { healthz: 'unhealthy', version: '', keyId: '' },
      '[got unexpected healthz status: unhealthy, expected KMSv2 API version v2, got , got invalid KMSv2 KeyID ' +
        'hash "": keyID is empty]',
      'empty',
    ],
    ['with another version', { version: 'v1beta1' }, 'expected KMSv2 API version v2, got v1beta1', undefined],
    ['without a key', { keyId: '' }, 'got invalid KMSv2 KeyID hash "": keyID is empty', 'empty'],
    [
      'with a key id that is too long',
      { keyId: id },
      `got invalid KMSv2 KeyID hash "${hashOf(id)}": keyID is 1025 bytes, which exceeds the max size of 1024`,
      'too_long',
    ],
  ]
  for (const [what, status, words, code] of cases)
    test(what, async () => {
      const { kms, metrics } = provider(status)
      assert.equal(await kms.check(), `kmsv2 Provider testplugin is not healthy, error: ${words}`)
      const counted =
        `apiserver_envelope_encryption_invalid_key_id_from_status_total{error="${code}",provider_name="testplugin"} ` +
        '1\n'
      assert.equal(metrics().includes(counted), code !== undefined)
    })

  test('if it changes its version', async () => {
    const { kms, said } = provider()
    assert.equal(await kms.check(), undefined)
    said.version = 'v2beta1'
    said.now += 20_000
    assert.match(
      (await kms.check())!,
      /KMSv2 API version should not change after the initial status response version v2, got v2beta1$/,
    )
  })
})

test('a healthy status is cached for 20 s, an unhealthy one for 3 s', async () => {
  const { kms, said } = provider()
  assert.equal(await kms.check(), undefined)
  said.healthz = 'ill'
  said.now += 19_999
  assert.equal(await kms.check(), undefined)
  said.now++
  assert.match((await kms.check())!, /got unexpected healthz status: ill/)
  said.healthz = 'ok'
  said.now += 2999
  assert.match((await kms.check())!, /ill/)
  said.now++
  assert.equal(await kms.check(), undefined)
})

test('a new key gets a new seed, and values of the old key are stale', async () => {
  const { kms, said, metrics } = provider()
  await kms.check()
  const stored = kms.encrypt(value, path)
  assert.deepEqual(await kms.decrypt(stored, path), { value, stale: false })
  said.keyId = said.encryptKeyId = '2'
  said.now += 20_000
  assert.equal(await kms.check(), undefined)
  assert.equal(said.encrypts, 2)
  assert.deepEqual(await kms.decrypt(stored, path), { value, stale: true })
  assert.deepEqual(await kms.decrypt(kms.encrypt(value, path), path), { value, stale: false })
  const labels = `key_id_hash="${hashOf('1')}",provider_name="testplugin",transformation_type="from_storage"} 2`
  assert.match(
    metrics(),
    new RegExp(`apiserver_envelope_encryption_key_id_hash_total\\{apiserver_id_hash="sha256:[0-9a-f]+",${labels}`),
  )
  assert.match(metrics(), /apiserver_envelope_encryption_dek_source_cache_size\{provider_name="testplugin"\} 2/)
})

test('a plug-in with inconsistent key ids uses the old seed until it expires', async () => {
  const { kms, said } = provider()
  await kms.check()
  said.keyId = '2'
  said.now = 20_000
  const problem = (await kms.check())!.replace(/uid="[^"]*"/, 'uid=""')
  assert.equal(
    problem,
    'kmsv2 Provider testplugin is not healthy, error: failed to rotate DEK uid="", useSeed=true, errState=<nil>, ' +
      'errGen=<nil>, ' +
      `statusKeyIDHash="${hashOf('2')}", encryptKeyIDHash="${hashOf('1')}", stateKeyIDHash="${hashOf('1')}", ` +
      'expirationTimestamp=1970-01-01T00:03:00Z',
  )
  const stored = kms.encrypt(value, path)
  said.now = 180_001
  assert.throws(() => kms.encrypt(value, path), {
    message:
      `encryptedDEKSource with keyID hash "${hashOf('1')}" expired at 1970-01-01T00:03:00Z (current time is ` +
      '1970-01-01T00:03:00Z)',
  })
  assert.deepEqual(await kms.decrypt(stored, path), { value, stale: false })
  // The same key is healthy again: no new seed is needed.
  said.keyId = '1'
  assert.equal(await kms.check(), undefined)
  kms.encrypt(value, path)
})

test('encryption and decryption fail before the plug-in was healthy', async () => {
  const { kms } = provider()
  assert.throws(() => kms.encrypt(value, path), { message: 'got unexpected nil transformer' })
})
