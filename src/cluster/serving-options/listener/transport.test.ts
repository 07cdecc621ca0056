import assert from 'node:assert/strict'
import { test } from 'node:test'
import { apiServerFlags } from '../../../apiserver/serving-flags/index.ts'
import { transportErrors, transportOptions } from './transport.ts'

const given = (...args: string[]) => transportOptions({ flags: apiServerFlags(args), cwd: '/', log: () => {} })

test("cipher suites have Go's names", () => {
  const suites = [
    'TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256',
    'TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256',
    'TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305',
  ]
  const older = [
    'TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA',
    'TLS_RSA_WITH_AES_128_CBC_SHA256',
    'TLS_RSA_WITH_AES_256_GCM_SHA384',
    'TLS_AES_128_GCM_SHA256',
  ]
  const flag = `--tls-cipher-suites=${[...suites, ...older].join()}`
  assert.deepEqual(transportErrors(apiServerFlags([flag])), [])
  assert.deepEqual(given(flag).ciphers, [
    'ECDHE-RSA-AES128-GCM-SHA256',
    'ECDHE-ECDSA-CHACHA20-POLY1305',
    'ECDHE-RSA-CHACHA20-POLY1305',
    'ECDHE-ECDSA-AES256-SHA',
    'AES128-SHA256',
    'AES256-GCM-SHA384',
  ])
})

test('TLS 1.2 is the minimum; unknown versions and ciphers are errors', () => {
  assert.equal(given('--tls-min-version=VersionTLS13').minVersion, 'TLSv1.3')
  assert.equal(given('--tls-min-version=VersionTLS10').minVersion, 'TLSv1.2')
  assert.deepEqual(
    transportErrors(
      apiServerFlags(['--tls-min-version=VersionTLS14', '--tls-cipher-suites=TLS_NULL_WITH_NULL_NULL,AES128-SHA']),
    ),
    [
      'unknown tls version "VersionTLS14"',
      "Cipher suite TLS_NULL_WITH_NULL_NULL not supported or doesn't exist",
      "Cipher suite AES128-SHA not supported or doesn't exist",
    ],
  )
  assert.throws(
    () => apiServerFlags(['--tls-sni-cert-key=a.crt']),
    /expected comma separated certificate and key file paths$/,
  )
  assert.throws(() => apiServerFlags(['--tls-sni-cert-key=a.crt,a.key:']), /empty names list is not allowed$/)
})
