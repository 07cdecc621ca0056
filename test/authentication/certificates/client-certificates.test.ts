/** Client certificates created with openssl: accepted and rejected ones. */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test from 'node:test'
import { metricsOf } from '../../admission/webhooks/webhook.ts'
import { testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { ask, isAnonymous } from '../whoami.ts'
import { opensslFolder } from './openssl.ts'

test('a certificate of the CA gives user, groups and credential id', async (t) => {
  const { authority } = opensslFolder(t)
  const users = authority('users')
  const cluster = await testCluster(t, { apiServerFlags: [`--client-ca-file=${users.file}`] })
  const pair = users.issue('/O=dev/O=ops/CN=anna')
  const digest = new X509Certificate(pair.cert).fingerprint256.replaceAll(':', '').toLowerCase()
  assert.deepEqual((await ask(cluster, pair)).user, {
    username: 'anna',
    groups: ['dev', 'ops', 'system:authenticated'],
    extra: { 'authentication.kubernetes.io/credential-id': [`X509SHA256=${digest}`] },
  })
  assert.equal((await ask(cluster, users.issue('/CN=any', { usage: '' }))).user?.username, 'any')
  assert.equal((await ask(cluster, authority('others').issue('/CN=anna'))).code, 401)
  const metrics = await metricsOf(cluster)
  assert.match(metrics, /^authentication_attempts\{result="success"\} [1-9]/m)
  assert.match(metrics, /^authentication_attempts\{result="error"\} 1$/m)
  assert.match(metrics, /^authenticated_user_requests\{username="other"\} [1-9]/m)
  assert.match(metrics, /^apiserver_client_certificate_expiration_seconds_count [1-9]/m)
})

test('a certificate may have one UID', async (t) => {
  const users = opensslFolder(t).authority('users')
  const cluster = await testCluster(t, { apiServerFlags: [`--client-ca-file=${users.file}`] })
  assert.equal((await ask(cluster, users.issue('/CN=anna/kubernetesUid=u-1'))).user?.uid, 'u-1')
  assert.equal((await ask(cluster, users.issue('/CN=anna/kubernetesUid=u-1/kubernetesUid=u-2'))).code, 401)
})

test('certificates of another CA, expired, without client usage or without a name are rejected', async (t) => {
  const { authority } = opensslFolder(t)
  const users = authority('users')
  const cluster = await testCluster(t, { apiServerFlags: [`--client-ca-file=${users.file}`] })
  const code = async (pair: { cert: string; key: string }) => (await ask(cluster, pair)).code
  assert.equal(await code(authority('users').issue('/O=system:masters/CN=admin')), 401)
  assert.equal(await code(users.issue('/CN=late', { days: -1 })), 401)
  assert.equal(await code(users.issue('/CN=server', { usage: 'serverAuth' })), 401)
  assert.equal(await code(users.issue('/O=dev')), 401)
  // A certificate of the front-proxy CA gives no user.
  const headers = { 'x-remote-user': 'admin', 'x-remote-group': 'system:masters' }
  assert.equal(
    (await ask(cluster, { ...users.issue('/CN=front-proxy-client'), headers })).user?.username,
    'front-proxy-client',
  )
  assert.ok(isAnonymous(await ask(cluster, { headers })))
})

test('the CA files of users and front proxies are reloaded', async (t) => {
  const { folder, authority } = opensslFolder(t)
  const [first, second, proxies, others] = [
    authority('first'),
    authority('second'),
    authority('proxies'),
    authority('others'),
  ]
  const file = (name: string, text: string): string => {
    const path = join(folder, name)
    writeFileSync(`${path}.new`, text)
    renameSync(`${path}.new`, path)
    return path
  }
  const flags = [
    `--client-ca-file=${file('users.pem', first.cert)}`,
    `--requestheader-client-ca-file=${file('proxies.pem', proxies.cert)}`,
  ]
  const cluster = await testCluster(t, { apiServerFlags: [...flags, '--requestheader-username-headers=X-Remote-User'] })
  const [anna, bob, proxy, other] = [
    first.issue('/CN=anna'),
    second.issue('/CN=bob'),
    proxies.issue('/CN=proxy'),
    others.issue('/CN=proxy'),
  ]
  const headers = { 'x-remote-user': 'carl' }
  const all = () =>
    Promise.all(
      [anna, bob, { ...proxy, headers }, { ...other, headers }].map(
        async (asked) => (await ask(cluster, asked)).user?.username ?? 'nobody',
      ),
    )
  assert.deepEqual(await all(), ['anna', 'nobody', 'carl', 'nobody'])
  file('users.pem', second.cert)
  file('proxies.pem', others.cert)
  await waitFor('the others count', async () => (await all()).join() === 'nobody,bob,nobody,carl')
  await waitFor('they are published', async () => {
    const { data } = await cluster.call(
      'GET',
      '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication',
    )
    return (data as Record<string, string>)['client-ca-file']?.includes(second.cert.trim())
  })
  file('users.pem', 'nonsense')
  assert.equal((await ask(cluster, bob)).user?.username, 'bob')
})

test('front proxies of the same CA as users need allowed names', async (t) => {
  const { file } = opensslFolder(t).authority('both')
  const flags = [`--client-ca-file=${file}`, `--requestheader-client-ca-file=${file}`]
  await assert.rejects(
    testCluster(t, { apiServerFlags: flags }),
    /contain overlapping certificates; --requestheader-allowed-names must be specified/,
  )
  await testCluster(t, { apiServerFlags: [...flags, '--requestheader-allowed-names=proxy'] })
})
