import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { makeAuthority } from '../../lib/x509/certificates.ts'
import { readRequest, signRequest } from './signing-requests.ts'

/** A request that OpenSSL makes, as PEM. */
function requestOf(t: TestContext, ...options: string[]): string {
  const directory = mkdtempSync(join(tmpdir(), 't8s-requests-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const [key, out] = [join(directory, 'key'), join(directory, 'csr')]
  const curve = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256']
  execFileSync('openssl', ['req', '-new', ...curve, '-nodes', '-keyout', key, '-out', out, ...options], {
    stdio: 'ignore',
  })
  return readFileSync(out, 'utf8')
}

const terms = {
  usages: ['digital signature', 'server auth'],
  notBefore: new Date(Date.now() - 60_000),
  notAfter: new Date(Date.now() + 3_600_000),
}

test('a signed certificate has the subject and the alternative names of its request', async (t) => {
  const authority = await makeAuthority('kubernetes', new Date())
  const pem = requestOf(
    t,
    '-subj',
    '/O=system:nodes/CN=system:node:n1',
    '-addext',
    'subjectAltName=DNS:n1.example.com,IP:192.0.2.7',
  )
  const request = await readRequest(pem)
  assert.deepEqual([request.dnsNames, request.ipAddresses], [['n1.example.com'], ['192.0.2.7']])
  const certificate = new X509Certificate(await signRequest(authority, pem, terms))
  assert.equal(certificate.subject, 'O=system:nodes\nCN=system:node:n1')
  assert.equal(certificate.subjectAltName, 'DNS:n1.example.com, IP Address:192.0.2.7')
  assert.ok(certificate.verify(new X509Certificate(authority.cert).publicKey))
})

test('a request without alternative names gets a certificate without them', async (t) => {
  const authority = await makeAuthority('kubernetes', new Date())
  const pem = requestOf(t, '-subj', '/CN=jane')
  const certificate = new X509Certificate(await signRequest(authority, pem, terms))
  assert.equal(certificate.subjectAltName, undefined)
})
