import 'reflect-metadata'
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createPrivateKey, generateKeyPairSync, X509Certificate } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import * as x509 from '@peculiar/x509'
import { issueCertificate, makeAuthority, signingRequest } from './certificates.ts'

const now = new Date('2026-03-04T05:06:07.890Z')
const server = {
  commonName: 'kube-apiserver',
  usage: 'server',
  hosts: ['localhost', '10.96.0.1', '::1', 'fd00:1::a', '::ffff:192.0.2.1'],
} as const

test('a certificate contains subject, usage, hosts and validity', async () => {
  const authority = await makeAuthority('kubernetes', now)
  const pair = await issueCertificate(authority, { ...server, organizations: ['ops', 'Größe'] }, now)
  const certificate = new X509Certificate(pair.cert)
  assert.equal(certificate.subject, 'O=ops\nO=Größe\nCN=kube-apiserver')
  assert.equal(certificate.issuer, 'CN=kubernetes')
  assert.deepEqual(certificate.keyUsage, ['1.3.6.1.5.5.7.3.1'])
  assert.equal(certificate.validFromDate.toISOString(), '2026-03-04T04:06:07.000Z')
  assert.equal(certificate.validToDate.toISOString(), '2027-03-04T05:06:07.000Z')
  for (const address of server.hosts.slice(1)) assert.ok(certificate.checkIP(address), address)
  assert.equal(certificate.checkHost('localhost'), 'localhost')
  assert.ok(certificate.checkPrivateKey(createPrivateKey(pair.key)))
  assert.equal(certificate.ca, false)
  assert.match(certificate.serialNumber, /^[4-7][0-9A-F]{31}$/)
})

test('another X.509 library reads the same extensions', async () => {
  const authority = await makeAuthority('kubernetes', now)
  const [ca, leaf] = [authority, await issueCertificate(authority, server, now)].map(
    ({ cert }) => new x509.X509Certificate(cert),
  )
  assert.deepEqual(
    Array.from(ca!.extensions, ({ type, critical }) => [type, critical]),
    [
      ['2.5.29.19', true],
      ['2.5.29.15', true],
      ['2.5.29.14', false],
    ],
  )
  assert.equal(ca!.getExtension(x509.BasicConstraintsExtension)?.ca, true)
  const { digitalSignature, keyCertSign, cRLSign } = x509.KeyUsageFlags
  assert.equal(ca!.getExtension(x509.KeyUsagesExtension)?.usages, digitalSignature | keyCertSign | cRLSign)
  assert.equal(leaf!.getExtension(x509.KeyUsagesExtension)?.usages, digitalSignature)
  const keyId = ca!.getExtension(x509.SubjectKeyIdentifierExtension)?.keyId
  assert.equal(leaf!.getExtension(x509.AuthorityKeyIdentifierExtension)?.keyId, keyId)
  assert.equal(keyId, (await x509.SubjectKeyIdentifierExtension.create(ca!.publicKey)).keyId)
  const names = leaf!.getExtension(x509.SubjectAlternativeNameExtension)?.names.toJSON()
  assert.deepEqual(
    names?.map(({ type }) => type),
    ['dns', 'ip', 'ip', 'ip', 'ip'],
  )
})

test('times from 2050 on have four digits for the year', async () => {
  const { validFromDate, validToDate } = new X509Certificate(
    (await makeAuthority('late', new Date('2045-01-01T00:00:00Z'))).cert,
  )
  assert.equal(validFromDate.toISOString(), '2044-12-31T23:00:00.000Z')
  assert.equal(validToDate.toISOString(), '2055-01-02T00:00:00.000Z')
})

test('OpenSSL verifies chains strictly', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 't8s-certificates-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const authority = await makeAuthority('kubernetes', new Date())
  const pair = await issueCertificate(authority, server, new Date())
  writeFileSync(join(directory, 'ca.crt'), authority.cert)
  writeFileSync(join(directory, 'server.crt'), pair.cert)
  execFileSync('openssl', [
    'verify',
    '-x509_strict',
    '-purpose',
    'sslserver',
    '-CAfile',
    join(directory, 'ca.crt'),
    join(directory, 'server.crt'),
  ])
})

test('authorities of other tools sign under their own name and key identifier', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 't8s-certificates-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  for (const [type, ...options] of [
    ['rsa:2048', '-subj', '/C=DE/O=Some Company/CN=kubernetes'],
    [
      'ec',
      '-pkeyopt',
      'ec_paramgen_curve:P-384',
      '-subj',
      '/CN=kubernetes',
      '-addext',
      'subjectKeyIdentifier=01:02:03',
    ],
    ['ec', '-pkeyopt', 'ec_paramgen_curve:P-521', '-subj', '/CN=kubernetes', '-addext', 'subjectKeyIdentifier=none'],
  ] as const) {
    const [key, cert] = ['ca.key', 'ca.crt'].map((name) => join(directory, name))
    execFileSync(
      'openssl',
      ['req', '-x509', '-nodes', '-newkey', type, '-keyout', key!, '-out', cert!, '-days', '9', ...options],
      { stdio: 'ignore' },
    )
    const authority = { cert: readFileSync(cert!, 'utf8'), key: readFileSync(key!, 'utf8') }
    const [issuer, issued] = [authority, await issueCertificate(authority, server, new Date())].map(
      (pair) => new X509Certificate(pair.cert),
    )
    assert.ok(issued!.verify(issuer!.publicKey))
    assert.ok(issued!.checkIssued(issuer!))
  }
})

test('an authority with another kind of key is rejected', async () => {
  const { cert } = await makeAuthority('kubernetes', now)
  const key = generateKeyPairSync('ed25519').privateKey.export({ format: 'pem', type: 'pkcs8' }).toString()
  await assert.rejects(issueCertificate({ cert, key }, server, now), /RSA or ECDSA, not ed25519/)
})

test('openssl and the X.509 library read a signing request', async () => {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const key = privateKey.export({ format: 'pem', type: 'sec1' }).toString()
  const subject = { commonName: 'system:node:n1', organizations: ['system:nodes'], hosts: ['n1', '10.0.0.1', '::1'] }
  const request = signingRequest(key, subject)
  const text = execFileSync('openssl', ['req', '-verify', '-noout', '-text'], {
    input: request,
    stdio: ['pipe', 'pipe', 'ignore'],
  }).toString()
  assert.match(text, /Subject: O = system:nodes, CN = system:node:n1\n/)
  assert.match(text, /DNS:n1, IP Address:10\.0\.0\.1, IP Address:0:0:0:0:0:0:0:1\n/)
  assert.ok(await new x509.Pkcs10CertificateRequest(request).verify())
  const bare = new x509.Pkcs10CertificateRequest(signingRequest(key, { ...subject, hosts: [] }))
  assert.ok(await bare.verify())
  assert.deepEqual(bare.extensions, [])
})
