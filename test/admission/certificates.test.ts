/**
 * Certificates: the requester is recorded, system:masters is rejected, and approving and signing need permissions for
 * the signer. Requests are created with openssl.
 */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { as, mergePatch, nodeUser, type Reply, type User } from '../authorization/as-user.ts'
import { type TestCluster, testCluster } from '../support/test-cluster.ts'

const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
const roles = '/apis/rbac.authorization.k8s.io/v1'
const clientSigner = 'kubernetes.io/kube-apiserver-client'

/** Returns a PKCS #10 request for this subject, in base64. */
function signingRequest(subject: string): string {
  const folder = mkdtempSync(join(tmpdir(), 'typernetes-csr-'))
  try {
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-keyout', join(folder, 'key.pem')]
    return Buffer.from(
      execFileSync('openssl', ['req', '-new', ...key, '-subj', subject], { stdio: ['ignore', 'pipe', 'ignore'] }),
    ).toString('base64')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

const body = (name: string, subject: string, more: object = {}) => ({
  apiVersion: 'certificates.k8s.io/v1',
  kind: 'CertificateSigningRequest',
  metadata: { name },
  spec: { request: signingRequest(subject), signerName: clientSigner, usages: ['client auth'], ...more },
})
const approved = { status: { conditions: [{ type: 'Approved', status: 'True', reason: 'r', message: 'm' }] } }

async function grant(cluster: TestCluster, name: string, user: string, rules: readonly object[]): Promise<void> {
  await cluster.call('POST', `${roles}/clusterroles`, { metadata: { name }, rules })
  await cluster.call('POST', `${roles}/clusterrolebindings`, {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: user }],
  })
}

describe('certificate signing requests', () => {
  const jane: User = { name: 'jane', groups: ['dev'] }
  let cluster: TestCluster
  const cleanUps: (() => unknown)[] = []
  after(() => Promise.all(cleanUps.map((cleanUp) => cleanUp())))
  before(async () => {
    cluster = await testCluster({ after: (cleanUp) => cleanUps.push(cleanUp) })
    await grant(cluster, 'ask', 'jane', [
      {
        apiGroups: ['certificates.k8s.io'],
        resources: [
          'certificatesigningrequests',
          'certificatesigningrequests/approval',
          'certificatesigningrequests/status',
        ],
        verbs: ['*'],
      },
    ])
  })

  test('the spec of a request has no field owners, since it is immutable; labels have owners', async () => {
    const managed = ({ body }: Reply) =>
      (body as { metadata: { managedFields?: { fieldsV1: object }[] } }).metadata.managedFields
    const plain = body('plain', '/O=dev/CN=jane')
    assert.equal(managed(await as(cluster, jane, 'POST', requests, plain)), undefined)
    const labelled = await as(cluster, jane, 'POST', requests, {
      ...plain,
      metadata: { name: 'labelled', labels: { a: 'b' } },
    })
    assert.deepEqual(managed(labelled)?.[0]?.fieldsV1, { 'f:metadata': { 'f:labels': { '.': {}, 'f:a': {} } } })
  })

  test('a request for the group system:masters is rejected', async () => {
    const refused = await as(cluster, jane, 'POST', requests, body('masters', '/O=dev/O=system:masters/CN=jane'))
    assert.equal(refused.status, 403)
    assert.equal(
      refused.message,
      'certificatesigningrequests.certificates.k8s.io "masters" is forbidden: use of ' +
        'kubernetes.io/kube-apiserver-client signer with system:masters group is not allowed',
    )
    assert.equal(
      (await as(cluster, jane, 'POST', requests, body('like-masters', '/O=system:masters2/CN=jane'))).status,
      201,
    )
    const nonsense = Buffer.from(
      '-----BEGIN CERTIFICATE REQUEST-----\nAAAA\n-----END CERTIFICATE REQUEST-----\n',
    ).toString('base64')
    assert.match(
      (await as(cluster, jane, 'POST', requests, body('nonsense', '/CN=x', { request: nonsense }))).message,
      /is invalid: spec.request: Invalid value: .*: asn1: syntax error: /,
    )
  })

  test('the server sets the requester, overwriting the request’s own fields', async () => {
    const { body: made } = await as(
      cluster,
      jane,
      'POST',
      requests,
      body('noted', '/CN=jane', { username: 'admin', groups: ['system:masters'] }),
    )
    const { username, groups } = made.spec as { username: string; groups: string[] }
    assert.deepEqual([username, groups], ['jane', ['dev', 'system:authenticated']])
  })

  test('approving and signing need permissions for the signer’s name or domain', async () => {
    await as(cluster, jane, 'POST', requests, body('wanted', '/CN=jane'))
    const approve = () => as(cluster, jane, 'PATCH', `${requests}/wanted/approval`, approved, mergePatch)
    const refused = await approve()
    assert.equal(refused.status, 403)
    assert.match(
      refused.message,
      /user not permitted to approve requests with signerName "kubernetes\.io\/kube-apiserver-client"$/,
    )
    const signers = { apiGroups: ['certificates.k8s.io'], resources: ['signers'] }
    await grant(cluster, 'other-domain', 'jane', [
      { ...signers, resourceNames: ['example.com/*', 'kubernetes.io'], verbs: ['approve', 'sign'] },
    ])
    assert.equal((await approve()).status, 403)
    await grant(cluster, 'domain', 'jane', [{ ...signers, resourceNames: ['kubernetes.io/*'], verbs: ['approve'] }])
    const { status, body: answer } = await approve()
    assert.equal(status, 200)
    const { conditions } = answer.status as { conditions: readonly object[] }

    const failed = {
      status: { conditions: [...conditions, { type: 'Failed', status: 'True', reason: 'r', message: 'm' }] },
    }
    const sign = () => as(cluster, jane, 'PATCH', `${requests}/wanted/status`, failed, mergePatch)
    assert.match(
      (await sign()).message,
      /user not permitted to sign requests with signerName "kubernetes\.io\/kube-apiserver-client"$/,
    )
    await grant(cluster, 'name', 'jane', [{ ...signers, resourceNames: [clientSigner], verbs: ['sign'] }])
    assert.equal((await sign()).status, 200)
  })

  test('a node may request certificates only for its own name', async () => {
    const kubelet = {
      signerName: 'kubernetes.io/kube-apiserver-client-kubelet',
      usages: ['digital signature', 'client auth'],
    }
    const ask = (name: string, node: string) =>
      as(cluster, nodeUser('n1'), 'POST', requests, body(name, `/O=system:nodes/CN=system:node:${node}`, kubelet))
    assert.match((await ask('theirs', 'n2')).message, /can only create a node CSR with CN=system:node:n1$/)
    assert.equal((await ask('mine', 'n1')).status, 201)
  })
})

test('a trust bundle of a signer needs the permission to attest for it', async (t) => {
  const cluster = await testCluster(t, { runtimeConfig: ['certificates.k8s.io/v1beta1=true'] })
  const bundles = '/apis/certificates.k8s.io/v1beta1/clustertrustbundles'
  const bundle = (name: string, signerName?: string) => ({
    metadata: { name },
    spec: { trustBundle: cluster.client.ca, ...(signerName && { signerName }) },
  })
  const jane: User = { name: 'jane' }
  await grant(cluster, 'bundles', 'jane', [
    { apiGroups: ['certificates.k8s.io'], resources: ['clustertrustbundles'], verbs: ['*'] },
  ])
  assert.equal((await as(cluster, jane, 'POST', bundles, bundle('plain'))).status, 201)
  const name = 'example.com:signer:a'
  const post = () => as(cluster, jane, 'POST', bundles, bundle(name, 'example.com/signer'))
  assert.match((await post()).message, /user not permitted to attest for signerName "example\.com\/signer"$/)
  await cluster.call('POST', bundles, bundle(name, 'example.com/signer'))
  const path = `${bundles}/${encodeURIComponent(name)}`
  assert.equal(
    (await as(cluster, jane, 'PATCH', path, { metadata: { finalizers: ['example.com/x'] } }, mergePatch)).status,
    200,
    'what garbage collection changes',
  )
  assert.equal((await as(cluster, jane, 'PATCH', path, { metadata: { labels: { a: 'b' } } }, mergePatch)).status, 403)
})
