import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CertificateSource } from '../../certificates/pod-certificates.ts'
import type { TokenSpec } from '../../tokens/token-cache.ts'
import type { Volume } from '../../volume-plugin.ts'
import { configMap, type NamedObject, podFields, podUid, podWith, secret, TestObjects } from '../../volumes.fixture.ts'
import { projectedKind } from './projected.ts'

type Sources = NonNullable<NonNullable<Volume['projected']>['sources']>

function setUp(...objects: readonly NamedObject[]) {
  const requested: { account: string; spec: TokenSpec }[] = []
  const kind = projectedKind({
    objects: new TestObjects(...objects),
    tokens: {
      async token(_, account, spec) {
        requested.push({ account, spec })
        return 'the token'
      },
    },
    certificates: {
      bundle: async (_pod, volume, index, { signerName }: CertificateSource) => ({
        key: 'key\n',
        chain: `${volume} ${index} ${signerName}\n`,
      }),
    },
    fields: podFields,
  })
  const files = async (sources: Sources, spec = {}, defaultMode = 0o644) => {
    const volume: Volume = { name: 'all', projected: { sources, defaultMode } }
    const pod = podWith([volume], spec)
    const payload = await kind.payload({
      pod,
      spec: { podName: 'all', name: 'all', volume, isReadOnly: false },
      folder: '',
    })
    return Object.fromEntries(
      [...payload].map(([path, { data, mode, owner }]) => [path, [String(data), mode.toString(8), owner]]),
    )
  }
  return { files, requested }
}

test('all sources are in one folder, later ones override', async () => {
  const { files } = setUp(configMap('settings', { a: '1', b: '1' }), secret('keys', { b: '2' }))
  const sources = [
    { configMap: { name: 'settings' } },
    { secret: { name: 'keys', items: [{ key: 'b', path: 'b', mode: 0o400 }] } },
    { downwardAPI: { items: [{ path: 'labels', fieldRef: { fieldPath: 'metadata.labels' } }] } },
  ]
  assert.deepEqual(await files(sources), {
    a: ['1', '644', undefined],
    b: ['2', '400', undefined],
    labels: ['{"app":"web"}', '644', undefined],
  })
})

test('a token is requested for the pod and its audience', async () => {
  const { files, requested } = setUp()
  const sources = [
    { serviceAccountToken: { path: 'token', expirationSeconds: 3607 } },
    { serviceAccountToken: { path: 'vault', audience: 'vault' } },
  ]
  assert.deepEqual(await files(sources), {
    token: ['the token', '644', undefined],
    vault: ['the token', '644', undefined],
  })
  const boundObjectRef = { apiVersion: 'v1', kind: 'Pod', name: 'web', uid: podUid }
  assert.deepEqual(requested, [
    { account: 'builder', spec: { expirationSeconds: 3607, boundObjectRef } },
    { account: 'builder', spec: { audiences: ['vault'], expirationSeconds: 3600, boundObjectRef } },
  ])
})

test('credentials belong to the user of the containers', async () => {
  const { files } = setUp()
  const sources = [{ serviceAccountToken: { path: 'token' } }]
  assert.deepEqual(await files(sources, { securityContext: { runAsUser: 7 } }), { token: ['the token', '600', 7] })
  assert.deepEqual(await files(sources, { securityContext: { fsGroup: 7 } }), {
    token: ['the token', '600', undefined],
  })
})

test('trust anchors are chosen by name or by signer', async () => {
  const trustBundle = '-----BEGIN CERTIFICATE-----\nQUFB\n-----END CERTIFICATE-----\n'
  const { files } = setUp({
    kind: 'ClusterTrustBundle',
    metadata: { name: 'ca' },
    spec: { trustBundle, signerName: 'example.com/s' },
  } as NamedObject)
  const sources = [
    { clusterTrustBundle: { name: 'ca', path: 'by-name' } },
    { clusterTrustBundle: { signerName: 'example.com/s', labelSelector: {}, path: 'by-signer' } },
    { clusterTrustBundle: { name: 'missing', optional: true, path: 'empty' } },
  ]
  assert.deepEqual(await files(sources), {
    'by-name': [trustBundle, '644', undefined],
    'by-signer': [trustBundle, '644', undefined],
    empty: ['', '644', undefined],
  })
  await assert.rejects(files([{ clusterTrustBundle: { path: 'x' } }]), {
    message: 'ClusterTrustBundle projection requires either name or signerName to be set',
  })
})

test('a certificate and its key are in one or two files', async () => {
  const { files } = setUp()
  const podCertificate = {
    signerName: 'example.com/s',
    keyType: 'ED25519',
    credentialBundlePath: 'bundle.pem',
    keyPath: 'key.pem',
    certificateChainPath: 'chain.pem',
  }
  assert.deepEqual(await files([{ configMap: { name: 'x', optional: true } }, { podCertificate }]), {
    'bundle.pem': ['key\nall 1 example.com/s\n', '644', undefined],
    'key.pem': ['key\n', '644', undefined],
    'chain.pem': ['all 1 example.com/s\n', '644', undefined],
  })
})

test('the messages of all sources that fail are joined', async () => {
  const { files } = setUp(configMap('settings', {}))
  await assert.rejects(files([{ configMap: { name: 'x' } }]), { message: 'configmap "x" not found' })
  const sources = [
    { configMap: { name: 'x' } },
    { secret: { name: 'y' } },
    { secret: { name: 'y' } },
    { configMap: { name: 'settings', items: [{ key: 'k', path: 'k' }] } },
  ]
  await assert.rejects(files(sources), {
    message: '[configmap "x" not found, secret "y" not found, configmap references non-existent config key: k]',
  })
})
