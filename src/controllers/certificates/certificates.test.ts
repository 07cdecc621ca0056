import assert from 'node:assert/strict'
import { test } from 'node:test'
import { kubeletClientRule, signerRules } from './signer-rules.ts'
import { validity } from './signing.ts'

const node = {
  commonName: 'system:node:n',
  organizations: ['system:nodes'],
  dnsNames: [],
  ipAddresses: [],
  emailAddresses: [],
  uris: [],
}
const client = signerRules['kubernetes.io/kube-apiserver-client']!
const serving = signerRules['kubernetes.io/kubelet-serving']!

test('kube-apiserver-client allows only client usages', () => {
  assert.equal(client(node, ['client auth']), undefined)
  assert.equal(client(node, ['digital signature', 'key encipherment', 'client auth']), undefined)
  assert.equal(client(node, ['server auth', 'client auth']), 'invalid usage for client certificate: server auth')
  assert.equal(client(node, ['digital signature']), 'missing required usage for client certificate: client auth')
})

test('kubeletClientRule requires a node subject without alternative names', () => {
  const usages = ['digital signature', 'client auth']
  assert.equal(kubeletClientRule(node, usages), undefined)
  assert.equal(
    kubeletClientRule({ ...node, organizations: ['system:nodes', 'system:masters'] }, usages),
    'subject organization is not system:nodes',
  )
  assert.equal(
    kubeletClientRule({ ...node, commonName: 'admin' }, usages),
    'subject common name does not begin with system:node:',
  )
  assert.equal(kubeletClientRule({ ...node, dnsNames: ['n'] }, usages), 'DNS subjectAltNames are not allowed')
  assert.equal(
    kubeletClientRule({ ...node, organizations: [], dnsNames: ['n'] }, usages),
    'subject organization is not system:nodes',
  )
  assert.equal(
    kubeletClientRule(node, ['client auth']),
    'usages did not match [client auth digital signature key encipherment]',
  )
})

test('kubelet-serving requires a DNS name or an IP address', () => {
  const usages = ['digital signature', 'server auth']
  assert.equal(serving({ ...node, ipAddresses: ['10.0.0.1'] }, usages), undefined)
  assert.equal(serving(node, usages), 'DNS or IP subjectAltName is required')
  assert.equal(serving({ ...node, organizations: [] }, usages), 'subject organization is not system:nodes')
  assert.equal(
    serving({ ...node, commonName: 'admin', dnsNames: ['n'] }, []),
    'usages did not match [digital signature key encipherment server auth]',
  )
})

test('validity is backdated by 5 minutes, which short-lived certificates get back', () => {
  const now = Date.parse('2026-01-01T12:00:00Z')
  const seconds = (requested?: number) => {
    const { notBefore, notAfter } = validity(requested, 365 * 24 * 3600 * 1000, now)
    assert.equal(notBefore.toISOString(), '2026-01-01T11:55:00.000Z')
    return (notAfter.getTime() - notBefore.getTime()) / 1000
  }
  assert.equal(seconds(), 365 * 24 * 3600)
  assert.equal(seconds(7200), 7500)
  assert.equal(seconds(24 * 3600), 24 * 3600)
  assert.equal(seconds(1), 900)
})
