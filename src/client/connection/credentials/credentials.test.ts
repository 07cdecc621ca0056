import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { ExecCredentials, ExecPlugin } from '../../../kubeconfig/exec-plugin.ts'
import { contextOf } from '../../../kubeconfig/read-context.ts'
import { inClusterAccess, kubeconfigAccess, loadAccess } from '../load-access.ts'
import { impersonationHeaders, tokenFile } from './credentials.ts'
import { execCredentials } from './exec-credentials.ts'

function folder(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), 'typernetes-credentials-'))
  t.after(() => rmSync(path, { recursive: true, force: true }))
  return path
}

test('a token file is read again after one minute, and after a 401', async (t) => {
  const file = join(folder(t), 'token')
  let now = 0
  const credentials = tokenFile(file, () => now)
  await assert.rejects(credentials.authorization!(), /cannot read the token file/)
  writeFileSync(file, 'first\n')
  assert.equal(await credentials.authorization!(), 'Bearer first')
  writeFileSync(file, 'second')
  assert.equal(await credentials.authorization!(), 'Bearer first')
  now = 60_000
  assert.equal(await credentials.authorization!(), 'Bearer second')
  writeFileSync(file, 'third')
  assert.equal(credentials.invalidate!(), true)
  assert.equal(await credentials.authorization!(), 'Bearer third')
})

test('an exec plugin runs once, also concurrently, until its credentials expire or are rejected', async () => {
  let now = 0
  let runs = 0
  const plugin: ExecPlugin = { apiVersion: 'client.authentication.k8s.io/v1', command: 'x', args: [], env: {} }
  const run = async (): Promise<ExecCredentials> => ({ token: `t${++runs}`, expires: now + 10_000 })
  const credentials = execCredentials(plugin, { run, now: () => now })
  assert.deepEqual(await Promise.all([credentials.authorization!(), credentials.authorization!()]), [
    'Bearer t1',
    'Bearer t1',
  ])
  assert.equal(credentials.invalidate!(), false, 'not directly after a run')
  now = 6_000
  assert.equal(credentials.invalidate!(), true)
  assert.equal(await credentials.authorization!(), 'Bearer t2')
  now = 16_000
  assert.equal(await credentials.authorization!(), 'Bearer t3')
})

test('an exec plugin that failed runs again for the next request', async () => {
  let runs = 0
  const run = async (): Promise<ExecCredentials> => {
    if (++runs === 1) throw new Error('not yet')
    return { cert: 'C', key: 'K' }
  }
  const credentials = execCredentials({ apiVersion: 'v', command: 'x', args: [], env: {} }, { run })
  await assert.rejects(credentials.certificate!(), /not yet/)
  assert.deepEqual(await credentials.certificate!(), { cert: 'C', key: 'K' })
  assert.equal(await credentials.authorization!(), undefined)
})

test('an exec plugin gets its environment and the cluster, and its output is validated', async (t) => {
  const file = join(folder(t), 'config')
  const program = (answer: string, more = ''): string => `apiVersion: v1
kind: Config
current-context: c
contexts: [{ name: c, context: { cluster: c, user: u, namespace: dev } }]
clusters:
- name: c
  cluster: { server: "https://example.com/path", proxy-url: "http://proxy:3128", tls-server-name: inner,
    insecure-skip-tls-verify: true }
users:
- name: u
  user:
    as: jane
    as-groups: [dev]
    exec: { apiVersion: client.authentication.k8s.io/v1, command: sh, provideClusterInfo: true,
      args: ["-c", ${JSON.stringify(answer)}]${more} }
`
  const answer = (status: string): string =>
    `printf '{"apiVersion":"client.authentication.k8s.io/v1","status":${status}}'`
  const load = async (text: string) => {
    writeFileSync(file, text)
    return kubeconfigAccess(await contextOf([file]))
  }
  const { credentials, ...access } = await load(
    program(`echo "$KUBERNETES_EXEC_INFO" | grep -q https://example.com/path && ${answer('{"token":"abc"}')}`),
  )
  assert.deepEqual(JSON.parse(JSON.stringify(access)), {
    url: 'https://example.com/path',
    insecure: true,
    serverName: 'inner',
    proxyUrl: 'http://proxy:3128',
    impersonate: { userName: 'jane', groups: ['dev'] },
    namespace: 'dev',
  })
  assert.equal(await credentials?.authorization?.(), 'Bearer abc')
  const fails = async (text: string, message: RegExp) =>
    assert.rejects(async () => (await load(text)).credentials?.authorization?.(), message)
  await fails(program(answer('{}')), /returned no credentials: its output has neither a token nor a certificate/)
  await fails(program(answer('{"clientKeyData":"K"}')), /must be set together/)
  await fails(program(`printf '{"apiVersion":"v1"}'`), /its output has the apiVersion v1 instead of/)
  await fails(program('exit 3'), /sh, which the kubeconfig names, returned no credentials/)
  await fails(program('x', ', interactiveMode: Always'), /requires a terminal/)
})

test('a pod finds its cluster by its environment and its service account files', async (t) => {
  const accountFolder = folder(t)
  const environment = { KUBERNETES_SERVICE_HOST: 'fd00::1', KUBERNETES_SERVICE_PORT: '6443' }
  await assert.rejects(inClusterAccess({ environment: {}, accountFolder }), /not running in a pod/)
  await assert.rejects(inClusterAccess({ environment, accountFolder }), /the service account token is missing/)
  for (const [name, content] of Object.entries({ token: 'T', 'ca.crt': 'CA', namespace: 'ns\n' }))
    writeFileSync(join(accountFolder, name), content)
  const { url, ca, namespace, credentials } = await loadAccess({ environment, accountFolder })
  assert.deepEqual(
    [url, ca, namespace, await credentials?.authorization?.()],
    ['https://[fd00::1]:6443', 'CA', 'ns', 'Bearer T'],
  )
})

test('impersonation headers contain user, uid, groups and extra', () => {
  assert.deepEqual(
    impersonationHeaders({ userName: 'jane', uid: '7', groups: ['a', 'b'], extra: { 'example.com/scopes': ['x'] } }),
    {
      'impersonate-user': 'jane',
      'impersonate-uid': '7',
      'impersonate-group': ['a', 'b'],
      'impersonate-extra-example.com%2fscopes': ['x'],
    },
  )
})
