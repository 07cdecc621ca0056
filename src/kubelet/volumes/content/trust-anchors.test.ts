import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ClusterTrustBundle } from '../../../client/kinds.ts'
import { anchorsByName, anchorsBySigner, cleanChain } from './trust-anchors.ts'

const long = Buffer.alloc(80, 7).toString('base64')
const block = (body: string) => `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`
const wrapped = `${long.slice(0, 64)}\n${long.slice(64)}`

const bundle = (name: string, trustBundle: string, signerName?: string, labels = {}): ClusterTrustBundle => ({
  apiVersion: 'certificates.k8s.io/v1beta1',
  kind: 'ClusterTrustBundle',
  metadata: { name, labels },
  spec: { trustBundle, signerName },
})

test('certificates are deduplicated and normalized', () => {
  const withHeader = block('Proc-Type: 4\n\nQUFB')
  const text = `# comment\n${block(long)}between\n${withHeader}${block('QUFB')}`
  assert.equal(anchorsByName(bundle('a', text), 'a', false), block(wrapped) + block('QUFB'))
})

test('a missing bundle is an error, unless it is optional', () => {
  assert.equal(anchorsByName(undefined, 'a', true), '')
  assert.throws(() => anchorsByName(undefined, 'a', false), /clustertrustbundle.certificates.k8s.io "a" not found/)
})

test('a signer and a selector choose bundles', () => {
  const bundles = [
    bundle('a', block('QUFB'), 'example.com/s', { live: 'true' }),
    bundle('b', block('QkJC'), 'example.com/s'),
    bundle('c', block('Q0ND'), 'example.com/other', { live: 'true' }),
  ]
  assert.equal(anchorsBySigner(bundles, 'example.com/s', {}, false), block('QUFB') + block('QkJC'))
  assert.equal(anchorsBySigner(bundles, 'example.com/s', { matchLabels: { live: 'true' } }, false), block('QUFB'))
  assert.equal(anchorsBySigner(bundles, 'example.com/s', undefined, true), '')
  assert.throws(() => anchorsBySigner(bundles, 'example.com/s', undefined, false), {
    message: 'combination of signerName and labelSelector matched zero ClusterTrustBundles',
  })
})

test('a chain keeps its order', () => {
  assert.equal(cleanChain(`x\n${block('QkJC')}y\r\n${block('QUFB')}`), block('QkJC') + block('QUFB'))
})
