/** Certificate requests that the signer's checks might read differently than a reader of the certificate. */
import assert from 'node:assert/strict'
import { createPrivateKey, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { opensslFolder } from '../../authentication/certificates/openssl.ts'
import { ask } from '../../authentication/whoami.ts'
import { as, nodeUser } from '../../authorization/as-user.ts'
import { type Lifetime, type TestCluster, testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'

const requests = '/apis/certificates.k8s.io/v1/certificatesigningrequests'
const clientSigner = 'kubernetes.io/kube-apiserver-client'
const kubeletSigner = 'kubernetes.io/kube-apiserver-client-kubelet'
const approved = { status: { conditions: [{ type: 'Approved', status: 'True', reason: 'r', message: 'm' }] } }

interface CertificateRequest {
  readonly key: string
  readonly der: Buffer
}

function openssl(t: Lifetime) {
  const { folder, openssl: run } = opensslFolder(t)
  return (subject: string, ...more: readonly string[]): CertificateRequest => {
    const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-keyout', 'k.pem']
    run('req', '-new', ...key, '-subj', subject, '-outform', 'DER', '-out', 'r.der', ...more)
    return { key: readFileSync(join(folder, 'k.pem'), 'utf8'), der: readFileSync(join(folder, 'r.der')) }
  }
}

const pem = (der: Buffer): string =>
  `-----BEGIN CERTIFICATE REQUEST-----\n${der.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`

const body = (name: string, { der }: CertificateRequest, signerName = clientSigner) => ({
  metadata: { name },
  spec: {
    request: Buffer.from(pem(der)).toString('base64'),
    signerName,
    usages: signerName === clientSigner ? ['client auth'] : ['digital signature', 'client auth'],
  },
})

/** Approves a request and returns the user that its certificate authenticates. */
async function authenticatedUser(cluster: TestCluster, name: string, { key }: CertificateRequest) {
  await cluster.call('PATCH', `${requests}/${name}/approval`, approved, 'application/merge-patch+json')
  const certificate = await waitFor('the certificate is issued', async () => {
    const { status } = await cluster.call('GET', `${requests}/${name}`)
    return (status as { certificate?: string }).certificate
  })
  return (await ask(cluster, { cert: Buffer.from(certificate, 'base64').toString(), key })).user
}

/** The content range of the ASN.1 value (X.690) at an offset. */
function contentRange(bytes: Buffer, at: number): { readonly from: number; readonly to: number } {
  const first = bytes[at + 1]!
  const digits = first < 128 ? 0 : first - 128
  const length = digits ? bytes.readUIntBE(at + 2, digits) : first
  return { from: at + 2 + digits, to: at + 2 + digits + length }
}

function value(tag: number, contents: Buffer): Buffer {
  const { length } = contents
  const head =
    length < 128 ? [tag, length] : length < 256 ? [tag, 0x81, length] : [tag, 0x82, length >> 8, length & 255]
  return Buffer.concat([Buffer.from(head), contents])
}

/** Changes the string type of `text` in the request and signs it again. */
function withStringType({ der, key }: CertificateRequest, text: string, tag: number): CertificateRequest {
  const start = contentRange(der, 0).from
  const info = contentRange(der, start)
  const algorithm = der.subarray(info.to, contentRange(der, info.to).to)
  const changed = Buffer.from(der.subarray(start, info.to))
  changed[changed.indexOf(text) - 2] = tag
  const signature = sign('sha256', changed, createPrivateKey(key))
  return {
    key,
    der: value(0x30, Buffer.concat([changed, algorithm, value(3, Buffer.concat([Buffer.from([0]), signature]))])),
  }
}

test('no spelling of system:masters in a request yields a certificate of that group', async (t) => {
  const [cluster, request] = [await testCluster(t), openssl(t)]
  const masters = /use of kubernetes\.io\/kube-apiserver-client signer with system:masters group is not allowed$/
  const plain = request('/O=system:masters/CN=eve')
  // Some parsers accept NumericString, VisibleString, GeneralString and OCTET STRING as text.
  for (const tag of [18, 26, 27, 4]) {
    await assert.rejects(
      cluster.call('POST', requests, body(`tag-${tag}`, withStringType(plain, 'system:masters', tag))),
      /is forbidden: failed to parse CSR: unsupported string type/,
    )
  }
  for (const tag of [12, 19, 20, 22]) {
    const { status, message } = await as(
      cluster,
      { name: 'admin', groups: ['system:masters'] },
      'POST',
      requests,
      body(`tag-${tag}`, withStringType(plain, 'system:masters', tag)),
    )
    assert.equal(status, 403)
    assert.match(message, masters)
  }
  for (const [index, csr] of [
    request('/O=dev+O=system:masters/CN=eve', '-multivalue-rdn'),
    request('/CN=eve+O=system:masters', '-multivalue-rdn'),
    request('/CN=eve/O=a/OU=b/O=system:masters', '-utf8'),
  ].entries()) {
    await assert.rejects(
      cluster.call('POST', requests, body(`several-${index}`, csr)),
      /system:masters group is not allowed/,
    )
  }
  for (const [name, subject, groups] of [
    ['nul', '/O=system:masters2/CN=eve', ['system:masters2']],
    ['slash', '/O=x\\/O=system:masters/CN=eve', ['x/O=system:masters']],
    ['comma', '/O=x, O=system:masters/CN=eve', ['x, O=system:masters']],
    ['line', '/O=x\nO=system:masters/CN=eve', ['x\nO=system:masters']],
  ] as const) {
    const csr = request(subject)
    await cluster.call('POST', requests, body(name, csr))
    assert.deepEqual((await authenticatedUser(cluster, name, csr))?.groups, [...groups, 'system:authenticated'], name)
  }
})

test('the last of several common names counts for authentication and node checks', async (t) => {
  const [cluster, request] = [await testCluster(t), openssl(t)]
  const two = request('/O=system:nodes/CN=system:node:victim/CN=system:node:n1')
  await cluster.call('POST', requests, body('two', two))
  assert.equal((await authenticatedUser(cluster, 'two', two))?.username, 'system:node:n1')
  const other = request('/O=system:nodes/CN=system:node:n1/CN=system:node:victim')
  const rejected = await as(cluster, nodeUser('n1'), 'POST', requests, body('other', other, kubeletSigner))
  assert.match(rejected.message, /can only create a node CSR with CN=system:node:n1$/)
})

test('kubelet certificates are approved for authorized requesters only', async (t) => {
  const [cluster, request] = [await testCluster(t), openssl(t)]
  const rbac = '/apis/rbac.authorization.k8s.io/v1'
  const rules = [
    { apiGroups: ['certificates.k8s.io'], resources: ['certificatesigningrequests'], verbs: ['create', 'get'] },
  ]
  await cluster.call('POST', `${rbac}/clusterroles`, { metadata: { name: 'ask' }, rules })
  const subjects = [{ kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name: 'eve' }]
  await cluster.call('POST', `${rbac}/clusterrolebindings`, {
    metadata: { name: 'ask' },
    roleRef: { kind: 'ClusterRole', name: 'ask' },
    subjects,
  })
  // The binding of kubeadm that lets nodes renew their certificates.
  const selfnodeclient = {
    kind: 'ClusterRole',
    name: 'system:certificates.k8s.io:certificatesigningrequests:selfnodeclient',
  }
  const nodes = [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: 'system:nodes' }]
  await cluster.call('POST', `${rbac}/clusterrolebindings`, {
    metadata: { name: 'renew' },
    roleRef: selfnodeclient,
    subjects: nodes,
  })
  const eve = { name: 'eve', groups: ['system:nodes'] }
  const post = (user: { readonly name: string }, name: string, csr: CertificateRequest) =>
    as(cluster, user, 'POST', requests, body(name, csr, kubeletSigner))
  // Requests are approved in order: the wrong ones would be approved before the node's own.
  for (const [name, subject] of [
    ['by-eve', '/O=system:nodes/CN=system:node:n1'],
    ['other-group', '/O=system:masters/CN=system:node:n1'],
    ['two-groups', '/O=system:nodes/O=system:masters/CN=system:node:n1'],
    ['other-name', '/O=system:nodes/CN=admin'],
  ] as const) {
    assert.equal((await post({ name: 'eve' }, name, request(subject))).status, 201, name)
  }
  assert.equal((await post(eve, 'in-the-group', request('/O=system:nodes/CN=system:node:n1'))).status, 201)
  const groups = ['/O=system:nodes/O=system:masters/CN=system:node:n1', '/O=system:masters/CN=system:node:n1']
  for (const [index, subject] of groups.entries())
    assert.equal((await post(nodeUser('n1'), `n1-${index}`, request(subject))).status, 201)
  const own = request('/O=system:nodes/CN=system:node:n1')
  await post(nodeUser('n1'), 'own', own)
  const status = async (name: string) =>
    (await cluster.call('GET', `${requests}/${name}`)).status as { certificate?: string; conditions?: object[] }
  await waitFor('the node’s own certificate is issued', async () => (await status('own')).certificate)
  for (const name of ['by-eve', 'other-group', 'two-groups', 'other-name', 'in-the-group', 'n1-0', 'n1-1'])
    assert.deepEqual(await status(name), {}, name)
  // Such a request is not signed even if it is approved by mistake.
  await cluster.call('PATCH', `${requests}/two-groups/approval`, approved, 'application/merge-patch+json')
  await waitFor('the signer rejects the request', async () =>
    (await status('two-groups')).conditions?.some((one) => (one as { type: string }).type === 'Failed'),
  )
  assert.equal((await status('two-groups')).certificate, undefined)
  // A pending request is approved once its requester gets the permission.
  const nodeclient = { kind: 'ClusterRole', name: 'system:certificates.k8s.io:certificatesigningrequests:nodeclient' }
  await cluster.call('POST', `${rbac}/clusterrolebindings`, {
    metadata: { name: 'join' },
    roleRef: nodeclient,
    subjects,
  })
  await waitFor('eve’s certificate is issued', async () => (await status('by-eve')).certificate, { deadlineMs: 60_000 })
})
