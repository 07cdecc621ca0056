import assert from 'node:assert/strict'
import { test } from 'node:test'
import { certificateOf, ecKeys, requestOf, rsaKeys } from './certificate.fixture.ts'
import { issuedFault } from './issued-certificates.ts'
import { pemBlocks } from './pem-blocks.ts'
import { signedRequestFault } from './signed-request.ts'
import { isKubernetesSigner, signerNameRules } from './signer-name.ts'
import { trustBundleRules } from './trust-bundle.ts'

const errorMessages = (errors: readonly { field: string; message: string }[] = []): string[] =>
  errors.map(({ field, message }) => `${field}: ${message}`)
const pem = (type: string, bytes: Buffer): string =>
  `-----BEGIN ${type}-----\n${bytes.toString('base64')}\n-----END ${type}-----\n`

test('PEM blocks are parsed as by encoding/pem', () => {
  const text =
    'nonsense\n-----BEGIN A-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: x\n\nAAEC\n-----END A-----\n-----BEGIN ' +
    `B-----\n${pem('C', Buffer.from('c'))}`
  assert.deepEqual(
    pemBlocks(text).map(({ type, hasHeaders, bytes }) => [type, hasHeaders, bytes.toString('hex')]),
    [
      ['A', true, '000102'],
      ['C', false, '63'],
    ],
  )
  // Many BEGIN lines without an END must not cause quadratic time.
  // Nor must endless headers or blanks.
  for (const filler of ['a: b\n', ' ', '\n', 'a:'])
    assert.equal(pemBlocks(`-----BEGIN A-----\n${filler.repeat(300_000)}-----END A-----`).length, 1)
  assert.deepEqual(pemBlocks(Array.from({ length: 20_000 }, (_, i) => `-----BEGIN ${i}-----\n`).join('')), [])
})

test('a certificate request must be well-formed and signed by its own key', async () => {
  const [ec, rsa] = await Promise.all([ecKeys(), rsaKeys()])
  const [ofEc, ofRsa] = await Promise.all([requestOf(ec), requestOf(rsa)])
  for (const request of [ofEc, ofRsa]) assert.equal(signedRequestFault(request.toString('pem')), undefined)
  const changed = (request: typeof ofEc): string => {
    const bytes = Buffer.from(request.rawData)
    const at = bytes.indexOf('jane')
    bytes.write('john', at)
    return signedRequestFault(pem('CERTIFICATE REQUEST', bytes)) ?? ''
  }
  assert.equal(changed(ofEc), 'x509: ECDSA verification failure')
  assert.equal(changed(ofRsa), 'crypto/rsa: verification error')
  const bytes = Buffer.from(ofEc.rawData)
  const cases: readonly (readonly [what: string, text: string, fault: string])[] = [
    ['no PEM', 'nonsense', 'PEM block type must be CERTIFICATE REQUEST'],
    ['a certificate', await certificateOf(ec), 'PEM block type must be CERTIFICATE REQUEST'],
    ['nothing in it', pem('CERTIFICATE REQUEST', Buffer.from('x')), 'asn1: syntax error: truncated tag or length'],
    ['an end that is missing', pem('CERTIFICATE REQUEST', bytes.subarray(0, -5)), 'asn1: syntax error: data truncated'],
    ['more behind it', pem('CERTIFICATE REQUEST', Buffer.concat([bytes, bytes])), 'asn1: syntax error: trailing data'],
    [
      'something else',
      pem('CERTIFICATE REQUEST', Buffer.from('0c0378797a', 'hex')),
      "asn1: structure error: tags don't match",
    ],
    [
      'many values',
      pem('CERTIFICATE REQUEST', Buffer.alloc(200_000, '0500', 'hex')),
      'asn1: structure error: sequence truncated',
    ],
    [
      'a length without end',
      pem('CERTIFICATE REQUEST', Buffer.from('30ffffffffff', 'hex')),
      'asn1: syntax error: truncated tag or length',
    ],
  ]
  for (const [what, text, fault] of cases) assert.equal(signedRequestFault(text), fault, what)
})

test('an issued certificate must consist of CERTIFICATE PEM blocks', async () => {
  const certificate = await certificateOf(await ecKeys())
  const cases: readonly (readonly [text: string, fault: string | undefined])[] = [
    [certificate, undefined],
    [certificate + certificate, undefined],
    ['', 'must contain at least one CERTIFICATE PEM block'],
    [
      certificate + pem('PRIVATE KEY', Buffer.from('x')),
      'only CERTIFICATE PEM blocks are allowed, found "PRIVATE KEY"',
    ],
    [certificate.replace('-----\n', '-----\nA: b\n\n'), 'no PEM block headers are permitted'],
    [pem('CERTIFICATE', Buffer.from('x')), 'x509: malformed certificate'],
  ]
  for (const [text, fault] of cases) assert.equal(issuedFault(text), fault)
})

test('a trust bundle must contain CA certificates without duplicates', async () => {
  const [keys, others] = await Promise.all([ecKeys(), ecKeys()])
  const [authority, other, leaf] = await Promise.all([
    certificateOf(keys, { isAuthority: true }),
    certificateOf(others, { isAuthority: true }),
    certificateOf(keys),
  ])
  const of = (text: string): string[] => trustBundleRules(text, 'spec.trustBundle').map(({ message }) => message)
  const wrong = (why: string): string => `Invalid value: "<value omitted>": ${why}`
  assert.deepEqual(of(`# a comment\n${authority}${other}`), [])
  assert.deepEqual(of(''), [wrong('at least one trust anchor must be provided')])
  assert.deepEqual(of(authority + other + authority), [wrong('duplicate trust anchor (indices [0 2])')])
  assert.deepEqual(of(leaf + pem('KEY', Buffer.from('x')) + pem('CERTIFICATE', Buffer.from('x'))), [
    wrong('entry 0 does not have the CA bit set'),
    wrong('entry 1 has bad block type: KEY'),
    wrong('entry 2 does not parse as X.509'),
  ])
  assert.deepEqual(of(authority.replace('-----\n', '-----\nA: b\n\n')), [wrong('entry 0 has PEM block headers')])
  assert.deepEqual(of('x'.repeat(1024 * 1024 + 1)), ['Too long: may not be more than 1048576 bytes'])
})

test('signer names need a domain and a path', () => {
  const of = (signer: string): string[] => errorMessages(signerNameRules(signer, 's'))
  assert.deepEqual(of('example.com/a.b'), [])
  assert.deepEqual(of(''), ['s: Required value'])
  assert.deepEqual(of('example.com/a/b'), [
    's: Invalid value: "example.com/a/b": must be a fully qualified domain and path of the form ' +
      "'example.com/signer-name'",
  ])
  assert.deepEqual(of('example/a'), [
    's: Invalid value: "example": should be a domain with at least two segments separated by dots',
  ])
  assert.deepEqual(of(`${'a.'.repeat(127)}com/a`), ['s: Too long: may not be more than 253 bytes'])
  assert.match(
    of('example.com/A')[0] ?? '',
    /^s: Invalid value: "A": validating label "A": a lowercase RFC 1123 subdomain must consist of/,
  )
  assert.deepEqual(['kubernetes.io/a', 'x.kubernetes.io/a', 'kubernetes.io.example/a'].map(isKubernetesSigner), [
    true,
    true,
    false,
  ])
})
