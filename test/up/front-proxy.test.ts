/** Tests of `t8s up` behind a custom front proxy, which names the user in custom headers. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { request } from 'node:https'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { issueCertificate, makeAuthority } from '../../src/lib/x509/certificates.ts'
import { stop, t8s, temporaryFolder, up } from './t8s-process.ts'

/** Returns the user of a request through the proxy `edge` to `t8s up` with these flags. */
async function userThroughProxy(
  t: TestContext,
  requestHeaderFlags: readonly string[],
  headers: Readonly<Record<string, string>>,
) {
  const folder = temporaryFolder(t)
  const authority = await makeAuthority('proxies', new Date())
  const proxy = await issueCertificate(authority, { commonName: 'edge', usage: 'client' }, new Date())
  const ca = join(folder, 'proxies.crt')
  writeFileSync(ca, authority.cert)
  const flags = ['--requestheader-client-ca-file', ca, ...requestHeaderFlags]
  const running = await up(t, ['--secure-port', '0', '--data-dir', join(folder, 'data'), ...flags])
  const url = new URL('/apis/authentication.k8s.io/v1/selfsubjectreviews', running.url)
  const all = { ...headers, 'content-type': 'application/json' }
  const sent = request(url, { ...proxy, rejectUnauthorized: false, agent: false, method: 'POST', headers: all })
  const [response] = await once(
    sent.end('{"apiVersion":"authentication.k8s.io/v1","kind":"SelfSubjectReview"}'),
    'response',
  )
  const { status } = JSON.parse(Buffer.concat(await response.toArray()).toString())
  await stop(running)
  return status.userInfo
}

test('the flags define the names of front proxies and their headers', async (t) => {
  const flags = [
    '--requestheader-allowed-names',
    'edge,other',
    '--requestheader-username-headers',
    'X-Anna',
    '--requestheader-uid-headers',
    'X-Number',
  ]
  const user = await userThroughProxy(t, flags, { 'x-anna': 'anna', 'x-number': '7', 'x-remote-group': 'gardeners' })
  assert.deepEqual(user, { username: 'anna', uid: '7', groups: ['gardeners', 'system:authenticated'] })
})

test('without --requestheader-uid-headers the uid of a front proxy is ignored', async (t) => {
  const user = await userThroughProxy(t, [], {
    'x-remote-user': 'anna',
    'x-remote-uid': '7',
    'x-remote-extra-scope': 'all',
  })
  assert.deepEqual(user, { username: 'anna', groups: ['system:authenticated'], extra: { scope: ['all'] } })
})

test('a certificate without its key, or an invalid file, is an error that names the flag', (t) => {
  const folder = temporaryFolder(t)
  const empty = join(folder, 'empty')
  writeFileSync(empty, '')
  const refused = (...flags: string[]) =>
    t8s(['up', '--nodes=0', '--secure-port', '0', ...flags], { cwd: folder }).stderr
  assert.match(
    refused('--proxy-client-cert-file', empty),
    /--proxy-client-cert-file and --proxy-client-key-file go together/,
  )
  assert.match(
    refused('--requestheader-client-ca-file', empty),
    /holds no certificate in PEM form: check --requestheader-client-ca-file/,
  )
})
