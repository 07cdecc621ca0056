/** Bootstrap tokens, passwords, anonymous requests, and WebSocket tokens. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { apiControllers, type Lifetime, type TestCluster, testCluster } from '../support/test-cluster.ts'
import { ask, bearer, isAnonymous } from './whoami.ts'

const secrets = '/api/v1/namespaces/kube-system/secrets'
const secret = '0123456789abcdef'

const bootstrapSecret = (id: string, more: object = {}) => ({
  metadata: { name: `bootstrap-token-${id}` },
  type: 'bootstrap.kubernetes.io/token',
  stringData: { 'token-id': id, 'token-secret': secret, 'usage-bootstrap-authentication': 'true', ...more },
})

test('a bootstrap token gives user and groups until it expires or its secret is deleted', async (t) => {
  const cluster = await testCluster(t, { controllers: apiControllers })
  const token = bearer(`aaaaa1.${secret}`)
  assert.equal((await ask(cluster, token)).code, 401)
  await cluster.call(
    'POST',
    secrets,
    bootstrapSecret('aaaaa1', { 'auth-extra-groups': 'system:bootstrappers:kubeadm:default-node-token' }),
  )
  assert.deepEqual((await ask(cluster, token)).user, {
    username: 'system:bootstrap:aaaaa1',
    groups: ['system:bootstrappers', 'system:bootstrappers:kubeadm:default-node-token', 'system:authenticated'],
  })
  assert.equal((await ask(cluster, bearer('aaaaa1.0123456789abcdee'))).code, 401)
  const merge = 'application/merge-patch+json'
  for (const stringData of [
    { expiration: '2020-01-01T00:00:00Z' },
    { expiration: 'soon' },
    { expiration: '', 'auth-extra-groups': 'system:masters' },
  ]) {
    await cluster.call('PATCH', `${secrets}/bootstrap-token-aaaaa1`, { stringData }, merge)
    assert.equal((await ask(cluster, token)).code, 401, JSON.stringify(stringData))
  }
  await cluster.call('PATCH', `${secrets}/bootstrap-token-aaaaa1`, { stringData: { 'auth-extra-groups': '' } }, merge)
  assert.equal((await ask(cluster, token)).code, 201)
  await cluster.call('DELETE', `${secrets}/bootstrap-token-aaaaa1`)
  assert.equal((await ask(cluster, token)).code, 401)
  const without = await testCluster(t, {
    controllers: apiControllers,
    apiServerFlags: ['--enable-bootstrap-token-auth=false'],
  })
  await without.call('POST', secrets, bootstrapSecret('aaaaa1'))
  assert.equal((await ask(without, token)).code, 401)
})

/** A cluster with a file for a flag. */
async function withFile(
  t: Lifetime,
  flag: string,
  text: string,
  ...flags: readonly string[]
): Promise<TestCluster & { readonly lines: readonly string[] }> {
  const folder = mkdtempSync(join(tmpdir(), 'users-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const file = join(folder, 'users.csv')
  writeFileSync(file, text)
  const lines: string[] = []
  const cluster = await testCluster(t, {
    controllers: apiControllers,
    apiServerFlags: [`--${flag}=${file}`, ...flags],
    log: (line) => lines.push(line),
  })
  return { ...cluster, lines }
}

const basic = (text: string) => ({ headers: { authorization: `Basic ${Buffer.from(text).toString('base64')}` } })

test('passwords need --basic-auth-file, which logs a warning at the start', async (t) => {
  const cluster = await withFile(t, 'basic-auth-file', 'pa:ss,anna,7,"dev,ops"\nother,bob,8\n')
  assert.ok(cluster.lines.some((line) => line.startsWith('--basic-auth-file: Kubernetes dropped passwords in 1.19')))
  assert.deepEqual((await ask(cluster, basic('anna:pa:ss'))).user, {
    username: 'anna',
    uid: '7',
    groups: ['dev', 'ops', 'system:authenticated'],
  })
  for (const wrong of ['anna:pa', 'anna:other', 'bob:pa:ss', 'carl:other', 'anna:', ':'])
    assert.equal((await ask(cluster, basic(wrong))).code, 401, wrong)
  assert.equal((await ask(cluster, basic('anna:other'))).headers['www-authenticate'], 'Basic realm="kubernetes-master"')
  const plain = await testCluster(t, { controllers: apiControllers })
  assert.ok(isAnonymous(await ask(plain, basic('anna:pa:ss'))))
  assert.equal((await ask(plain, bearer('wrong'))).headers['www-authenticate'], undefined)
})

test('a token of the file gives its user, and a token after two spaces is ignored with a warning', async (t) => {
  const cluster = await withFile(t, 'token-auth-file', 't0ken,anna,7,"dev"\n')
  assert.deepEqual((await ask(cluster, bearer('t0ken'))).user, {
    username: 'anna',
    uid: '7',
    groups: ['dev', 'system:authenticated'],
  })
  assert.equal((await ask(cluster, { headers: { authorization: 'bEaReR t0ken' } })).user?.username, 'anna')
  assert.equal((await ask(cluster, bearer('other'))).code, 401)
  const spaced = await ask(cluster, { headers: { authorization: 'Bearer  t0ken' } })
  assert.ok(isAnonymous(spaced))
  assert.match(
    spaced.headers.warning ?? '',
    /the provided Authorization header contains extra space before the bearer token, and is ignored/,
  )
})

test('with --anonymous-auth=false requests without credentials are rejected', async (t) => {
  const cluster = await testCluster(t, { controllers: apiControllers, apiServerFlags: ['--anonymous-auth=false'] })
  assert.equal((await ask(cluster, {})).code, 401)
  assert.equal((await ask(cluster, { method: 'GET', path: '/healthz' })).code, 401)
})

test('a WebSocket may send its token as a sub-protocol beside another one', async (t) => {
  const cluster = await withFile(t, 'token-auth-file', 't0ken,anna,7,"system:masters"\n')
  const carrier = (token: string) => `base64url.bearer.authorization.k8s.io.${Buffer.from(token).toString('base64url')}`
  const upgrade = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'AAAAAAAAAAAAAAAAAAAAAA==',
  }
  const path = '/api/v1/namespaces/default/pods/none/exec?command=a'
  const code = async (protocols: string, headers: object = upgrade) =>
    (await ask(cluster, { method: 'GET', path, headers: { ...headers, 'sec-websocket-protocol': protocols } })).code
  assert.equal(await code(`v5.channel.k8s.io, ${carrier('t0ken')}`), 404)
  assert.equal(await code(`${carrier('t0ken')},v5.channel.k8s.io`), 404)
  for (const wrong of [
    `v5.channel.k8s.io, ${carrier('other')}`,
    carrier('t0ken'),
    `${carrier('t0ken')}, ${carrier('t0ken')}, v5.channel.k8s.io`,
    'base64url.bearer.authorization.k8s.io.t0k!n, v5.channel.k8s.io',
    `v5.channel.k8s.io, base64url.bearer.authorization.k8s.io.${Buffer.from([0xff, 0xfe]).toString('base64url')}`,
  ]) {
    assert.equal(await code(wrong), 401, wrong)
  }
  for (const none of ['v5.channel.k8s.io', carrier(''), `v5.channel.k8s.io, ${carrier('')}`])
    assert.equal(await code(none), 403, none)
  // Other requests can set headers, and must.
  assert.equal(await code(`v5.channel.k8s.io, ${carrier('t0ken')}`, {}), 403)
})
