import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PodCertificateRequest } from '../../../client/kinds.ts'
import { podUid, podWith } from '../volumes.fixture.ts'
import { PodCertificates } from './pod-certificates.ts'

const minuteMs = 60_000
const certificate = (text: string) =>
  `-----BEGIN CERTIFICATE-----\n${Buffer.from(text).toString('base64')}\n-----END CERTIFICATE-----\n`

function testCertificates() {
  const state = {
    nowMs: Date.UTC(2026, 0, 1),
    requests: [] as PodCertificateRequest[],
    events: [] as string[],
    lines: [] as string[],
    accountUid: 'sa-uid' as string | undefined,
  }
  const certificates = new PodCertificates({
    serviceAccountUid: async () => state.accountUid,
    async create(request) {
      const created = { ...request, metadata: { ...request.metadata, name: `req-${state.requests.length}` } }
      state.requests.push(created)
      return created
    },
    find: async (_, name) => state.requests.find(({ metadata }) => metadata.name === name),
    node: () => ({ name: 'n1', uid: 'node-uid' }),
    record: (_, { type, reason, message }) => void state.events.push(`${type} ${reason} ${message}`),
    now: () => state.nowMs,
    random: () => 0,
    log: (line) => void state.lines.push(line),
  })
  const pod = podWith([])
  const source = { signerName: 'example.com/signer', keyType: 'ED25519', maxExpirationSeconds: 86_400 }
  const bundle = () => certificates.bundle(pod, 'certs', 1, source)
  /** The signer answers the last request. */
  const answer = (type: string, hours = 24) => {
    const request = state.requests.at(-1)!
    request.status = {
      conditions: [{ type, status: 'True', reason: 'Policy', message: 'no "x"', lastTransitionTime: '' }],
      certificateChain: `leaf\n${certificate('leaf')}${certificate('ca')}`,
      beginRefreshAt: new Date(state.nowMs + (hours - 1) * 60 * minuteMs).toISOString(),
      notAfter: new Date(state.nowMs + hours * 60 * minuteMs).toISOString(),
    }
  }
  return { state, certificates, bundle, answer }
}

const notIssued = { message: 'credential bundle is not issued yet' }

test('a certificate is requested for the pod, and used once it is issued', async () => {
  const { state, bundle, answer } = testCertificates()
  await assert.rejects(bundle(), notIssued)
  await assert.rejects(bundle(), notIssued)
  assert.equal(state.requests.length, 1)
  const { metadata, spec } = state.requests[0]!
  assert.equal(metadata.generateName, 'req-')
  assert.equal(metadata.ownerReferences?.[0]?.uid, podUid)
  const { stubPKCS10Request, ...rest } = spec
  assert.ok(stubPKCS10Request)
  assert.deepEqual(rest, {
    signerName: 'example.com/signer',
    podName: 'web',
    podUID: podUid,
    serviceAccountName: 'builder',
    serviceAccountUID: 'sa-uid',
    nodeName: 'n1',
    nodeUID: 'node-uid',
    maxExpirationSeconds: 86_400,
    unverifiedUserAnnotations: undefined,
  })
  answer('Issued')
  const { key, chain } = await bundle()
  assert.match(key, /BEGIN PRIVATE KEY/)
  assert.equal(chain, certificate('leaf') + certificate('ca'))
  assert.equal(state.requests.length, 1)
})

test('a certificate is renewed in time, and the old one is used meanwhile', async () => {
  const { state, bundle, answer } = testCertificates()
  await bundle().catch(() => {})
  answer('Issued')
  const first = await bundle()
  state.nowMs += 23 * 60 * minuteMs - 1
  await bundle()
  assert.equal(state.requests.length, 1)
  state.nowMs += 1
  assert.equal((await bundle()).key, first.key)
  assert.equal(state.requests.length, 2)
  answer('Issued')
  assert.notEqual((await bundle()).key, first.key)
})

test('late and expired certificates are recorded once', async () => {
  const { state, bundle, answer } = testCertificates()
  await bundle().catch(() => {})
  answer('Issued')
  await bundle()
  state.nowMs += 23 * 60 * minuteMs + 11 * minuteMs
  for (let i = 0; i < 3; i++) await bundle()
  state.nowMs += 60 * minuteMs
  for (let i = 0; i < 3; i++) await bundle()
  assert.deepEqual(state.events, [
    'Warning CertificateOverdueForRefresh PodCertificate refresh overdue',
    'Warning CertificateExpired PodCertificate expired',
  ])
})

for (const [type, verb] of [
  ['Denied', 'was denied'],
  ['Failed', 'failed'],
] as const)
  test(`a request that ${verb} is final`, async () => {
    const { state, bundle, answer } = testCertificates()
    await bundle().catch(() => {})
    answer(type)
    const message = `PodCertificateRequest was permanently ${type.toLowerCase()}: reason="Policy" message="no \\"x\\""`
    for (let i = 0; i < 2; i++) await assert.rejects(bundle(), { message })
    assert.equal(state.requests.length, 1)
    assert.deepEqual(state.events, [
      `Warning ${type} PodCertificateRequest default/req-0 ${verb}, reason="Policy", message="no \\"x\\""`,
    ])
  })

test('a request that was deleted is repeated after ten minutes', async () => {
  const { state, bundle } = testCertificates()
  await bundle().catch(() => {})
  state.requests.length = 0
  state.nowMs += 10 * minuteMs
  await assert.rejects(bundle(), notIssued)
  state.nowMs += 1
  for (let i = 0; i < 2; i++) await assert.rejects(bundle(), notIssued)
  assert.equal(state.requests.length, 1)
})

test('failures are logged, and the request is repeated', async () => {
  const { state, bundle } = testCertificates()
  state.accountUid = undefined
  await assert.rejects(bundle(), notIssued)
  assert.match(state.lines[0]!, /serviceaccounts "builder" not found/)
  state.accountUid = 'sa-uid'
  await assert.rejects(bundle(), notIssued)
  assert.equal(state.requests.length, 1)
})

test('the keys of an ended pod are forgotten', async () => {
  const { state, certificates, bundle, answer } = testCertificates()
  await bundle().catch(() => {})
  answer('Issued')
  await bundle()
  certificates.forget(podUid)
  await assert.rejects(bundle(), notIssued)
  assert.equal(state.requests.length, 2)
})
