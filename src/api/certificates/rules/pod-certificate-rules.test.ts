import assert from 'node:assert/strict'
import { createSign, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import { test } from 'node:test'
import { certificateOf, ecKeys, publicBytes, requestOf, rsaKeys } from './certificate.fixture.ts'
import { podRequestRules } from './pod-certificate-rules.ts'
import { podRequestStatusRules } from './pod-certificate-status-rules.ts'

const uid = 'b1c2'
const ed = generateKeyPairSync('ed25519')
const der = (key: KeyObject): string => key.export({ format: 'der', type: 'spki' }).toString('base64')
const proofOf = (key: KeyObject): string => sign(null, Buffer.from(uid), key).toString('base64')

const good = {
  signerName: 'example.com/s',
  podName: 'p',
  podUID: uid,
  serviceAccountName: 'a',
  serviceAccountUID: 'u',
  nodeName: 'n',
  nodeUID: 'v',
  maxExpirationSeconds: 3600,
  pkixPublicKey: der(ed.publicKey),
  proofOfPossession: proofOf(ed.privateKey),
}
const request = (more: object = {}, status: object = {}) =>
  ({
    apiVersion: 'certificates.k8s.io/v1beta1',
    kind: 'PodCertificateRequest',
    metadata: { name: 'r' },
    spec: { ...good, ...more },
    status,
  }) as never
const validationErrors = (more: object): string[] =>
  podRequestRules(request(more)).map(({ field, message }) => `${field}: ${message}`)

test('the spec of a PodCertificateRequest is validated', async () => {
  const range = (most: number): string => `must be in the range [3600, ${most}]`
  const subdomain = /a lowercase RFC 1123 subdomain must consist of/
  assert.deepEqual(validationErrors({}), [])
  assert.deepEqual(validationErrors({ maxExpirationSeconds: 7_862_400 }), [])
  assert.deepEqual(validationErrors({ maxExpirationSeconds: 7_862_401 }), [
    `spec.maxExpirationSeconds: Invalid value: 7862401: ${range(7_862_400)}`,
  ])
  assert.deepEqual(validationErrors({ maxExpirationSeconds: 3599 }), [
    `spec.maxExpirationSeconds: Invalid value: 3599: ${range(7_862_400)}`,
  ])
  assert.deepEqual(validationErrors({ signerName: 'kubernetes.io/x', maxExpirationSeconds: 86_401 }), [
    `spec.maxExpirationSeconds: Invalid value: 86401: ${range(86_400)}`,
  ])
  assert.deepEqual(validationErrors({ maxExpirationSeconds: undefined }), [
    'spec.maxExpirationSeconds: Required value: must be set',
  ])
  for (const field of ['podName', 'serviceAccountName', 'nodeName'])
    assert.match(validationErrors({ [field]: 'A b' })[0] ?? '', subdomain, field)
  for (const field of ['serviceAccountUID', 'nodeUID']) {
    assert.deepEqual(validationErrors({ [field]: '' }), [`spec.${field}: Invalid value: "": must not be empty`])
    assert.deepEqual(validationErrors({ [field]: 'x'.repeat(129) }), [
      `spec.${field}: Too long: may not be more than 128 bytes`,
    ])
  }
  assert.equal(validationErrors({ unverifiedUserAnnotations: { 'example.com/a': 'b' } }).length, 0)
  assert.equal(validationErrors({ unverifiedUserAnnotations: { a: 'b' } }).length, 1)
})

test('proofOfPossession must be signed with the requested key', () => {
  const none = 'spec.proofOfPossession: Invalid value: could not verify proof-of-possession signature'
  const other = generateKeyPairSync('ed25519')
  assert.deepEqual(validationErrors({ proofOfPossession: proofOf(other.privateKey) }), [none])
  assert.deepEqual(validationErrors({ podUID: 'other' }), [none])
  assert.deepEqual(validationErrors({ proofOfPossession: undefined }), [none])
  assert.deepEqual(validationErrors({ pkixPublicKey: 'AAAA' }), [
    'spec.pkixPublicKey: Invalid value: "AAAA": must be a valid PKIX-serialized public key',
  ])
  for (const namedCurve of ['P-256', 'P-384', 'P-521']) {
    const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve })
    const proofOfPossession = createSign('sha256').update(uid).sign(privateKey).toString('base64')
    assert.deepEqual(validationErrors({ pkixPublicKey: der(publicKey), proofOfPossession }), [], namedCurve)
  }
  const small = generateKeyPairSync('ec', { namedCurve: 'secp224r1' }).publicKey
  assert.deepEqual(validationErrors({ pkixPublicKey: der(small) }), [
    'spec.pkixPublicKey: Invalid value: "curve P-224": elliptic public keys must use curve P256 or P384',
  ])
  const short = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey
  assert.deepEqual(validationErrors({ pkixPublicKey: der(short) }), [
    'spec.pkixPublicKey: Invalid value: "2048-bit modulus": RSA keys must have modulus size 3072 or 4096',
  ])
  const strange = generateKeyPairSync('x25519').publicKey
  assert.match(
    validationErrors({ pkixPublicKey: der(strange) })[0] ?? '',
    /: unknown public key type; supported types are Ed25519, ECDSA, and RSA$/,
  )
})

test('stubPKCS10Request replaces pkixPublicKey and proofOfPossession', async () => {
  const keys = await ecKeys()
  const stub = Buffer.from((await requestOf(keys, '')).rawData)
  const alone = { pkixPublicKey: undefined, proofOfPossession: undefined }
  assert.deepEqual(validationErrors({ ...alone, stubPKCS10Request: stub.toString('base64') }), [])
  assert.equal(validationErrors({ stubPKCS10Request: stub.toString('base64') }).length, 2)
  stub[stub.length - 1]! ^= 1
  assert.match(
    validationErrors({ ...alone, stubPKCS10Request: stub.toString('base64') })[0] ?? '',
    /: x509: ECDSA verification failure$/,
  )
  const short = Buffer.from((await requestOf(await rsaKeys(2048), '')).rawData).toString('base64')
  assert.deepEqual(validationErrors({ ...alone, stubPKCS10Request: short }), [
    'spec.stubPKCS10Request: Invalid value: "2048-bit modulus": RSA keys must have modulus size 3072 or 4096',
  ])
})

const second = '2026-11-22T12:00:00Z'
const condition = (type: string, status = 'True') => ({
  type,
  status,
  reason: 'R',
  message: '',
  lastTransitionTime: second,
})

test('the status is immutable after Issued, Denied or Failed', async () => {
  const keys = await ecKeys()
  const pkixPublicKey = (await publicBytes(keys)).toString('base64')
  const notBefore = new Date(second)
  const chain = await certificateOf(keys, { notBefore })
  const issued = {
    conditions: [condition('Issued')],
    certificateChain: chain,
    notBefore: second,
    notAfter: '2026-11-22T14:00:00Z',
    beginRefreshAt: '2026-11-22T13:00:00Z',
  }
  const of = (status: object, old: object = {}, more: object = {}): string[] =>
    podRequestStatusRules(
      request({ pkixPublicKey, ...more }, status),
      request({ pkixPublicKey, maxExpirationSeconds: 86_400, ...more }, old),
      () => notBefore.getTime() + 60_000,
    ).map(({ field, message }) => `${field}: ${message}`)
  const chainOf = async (wishes: Parameters<typeof certificateOf>[1]): Promise<object> => ({
    ...issued,
    certificateChain: await certificateOf(keys, { notBefore, ...wishes }),
  })

  assert.deepEqual(of(issued), [])
  assert.deepEqual(of({ conditions: [condition('Denied')] }), [])
  assert.deepEqual(of({ ...issued, conditions: [condition('Failed')] }), [
    'status: Invalid value: non-condition status fields must be empty when denying or failing the ' +
      'PodCertificateRequest',
  ])
  assert.deepEqual(of(issued, { conditions: [condition('Denied')] }), [
    'status: Invalid value: immutable after PodCertificateRequest is issued, denied, or failed',
  ])
  assert.deepEqual(of({ ...issued, conditions: undefined }), [
    'status: Invalid value: status is immutable unless transitioning to "Issued", "Denied", or "Failed"',
  ])
  assert.deepEqual(of({ conditions: [condition('Other')] }), [
    'status.conditions.[0].type: Unsupported value: "Other": supported values: "Issued", "Denied", "Failed"',
  ])
  assert.deepEqual(of({ conditions: [condition('Issued', 'False'), condition('Denied')] }), [
    'status.conditions.[0].status: Unsupported value: "False": supported values: "True"',
    'status.conditions.[1].type: Invalid value: "Denied": There may be at most one condition with type "Issued", ' +
      '"Denied", or "Failed"',
  ])
  assert.match(
    of({ ...issued, certificateChain: '' })[0] ?? '',
    /: issued certificate chain must contain at least one certificate$/,
  )
  assert.match(
    of({ ...issued, certificateChain: await certificateOf(await ecKeys(), { notBefore }) })[0] ?? '',
    /: leaf certificate was not issued to the requested public key$/,
  )
  assert.match(
    of({ ...issued, certificateChain: `${chain}-----BEGIN X-----\n-----END X-----` })[0] ?? '',
    /: issued certificate chain must consist entirely of CERTFICATE PEM blocks$/,
  )
  assert.match(
    of(await chainOf({ dnsNames: ['a..b'] }))[0] ?? '',
    /"a..b": leaf certificate's DNSName should not contain '..'$/,
  )
  assert.deepEqual(of({ ...issued, beginRefreshAt: undefined }), [
    'status.beginRefreshAt: Required value: must be present and in the range [notbefore+10min, notafter-10min]',
  ])
  assert.match(
    of({ ...issued, notBefore: '2026-11-22T12:00:01Z' })[0] ?? '',
    /^status.notBefore: .*: must be set to the NotBefore time encoded in the leaf certificate$/,
  )
  assert.match(
    of({ ...issued, notAfter: '2026-11-22T14:00:01Z' })[0] ?? '',
    /^status.notAfter: .*: must be set to the NotAfter time encoded in the leaf certificate$/,
  )
  assert.match(
    of({ ...issued, beginRefreshAt: '2026-11-22T12:09:59Z' })[0] ?? '',
    /: must be at least 10 minutes after status.notBefore$/,
  )
  assert.match(
    of({ ...issued, beginRefreshAt: '2026-11-22T13:50:01Z' })[0] ?? '',
    /: must be at least 10 minutes before status.notAfter$/,
  )
  assert.match(
    of(issued, {}, { maxExpirationSeconds: 3600 })[0] ?? '',
    /: leaf certificate lifetime must be <= spec.maxExpirationSeconds \(3600\)$/,
  )
  const early = '2026-11-22T11:00:00Z'
  assert.match(
    of({ ...(await chainOf({ notBefore: new Date(early) })), notBefore: early })[0] ?? '',
    /: must be set to within 5 minutes of kube-apiserver's current time$/,
  )
  const hour = '2026-11-22T12:59:59Z'
  assert.match(
    of({ ...(await chainOf({ notAfter: new Date(hour) })), notAfter: hour })[0] ?? '',
    /: Invalid value: 3599000000000: leaf certificate lifetime must be >= 1 hour$/,
  )
})
