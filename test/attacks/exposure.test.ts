/** Tests of what a cluster exposes: files on disk, logs, endpoints for anonymous users, and ports. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { connect as connectTcp } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { ask, bearer } from '../authentication/whoami.ts'
import { testCluster } from '../support/test-cluster.ts'

test('files are readable by their owner only, whatever the umask, and logs contain no secrets', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'exposure-'))
  t.after(() => rmSync(directory, { recursive: true, force: true }))
  const umask = process.umask(0)
  t.after(() => process.umask(umask))
  const policy = join(directory, 'policy.yaml')
  writeFileSync(policy, 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\n')
  const lines: string[] = []
  const flags = [`--audit-policy-file=${policy}`, `--audit-log-path=${join(directory, 'logs', 'audit.log')}`]
  const password = 'an-unguessable-password'
  const cluster = await testCluster(t, {
    storage: { directory: join(directory, 'data') },
    verbosity: 4,
    log: (line) => lines.push(line),
    tokens: [{ token: 'a-token-of-somebody', user: { name: 'somebody', groups: [] } }],
    apiServerFlags: flags,
  })
  await cluster.call('POST', '/api/v1/namespaces/default/secrets', {
    metadata: { name: 's' },
    stringData: { password },
  })
  await cluster.call('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'robot' } })
  const { status } = await cluster.call('POST', '/api/v1/namespaces/default/serviceaccounts/robot/token', {})
  const { token } = status as { token: string }
  await ask(cluster, bearer(token))
  await ask(cluster, bearer(`${token}x`))
  await ask(cluster, bearer('a-token-of-somebody'))
  await ask(cluster, { headers: { authorization: `Basic ${Buffer.from(`a:${password}`).toString('base64')}` } })

  const open: string[] = []
  const checkModes = (path: string): void => {
    const { mode } = lstatSync(path)
    // Certificates and public keys may be readable, and their folder is not.
    if (mode & 0o077 && !/\.(crt|pub)$/.test(path) && path !== policy)
      open.push(`${path.slice(directory.length)} ${(mode & 0o777).toString(8)}`)
    if (lstatSync(path).isDirectory()) for (const name of readdirSync(path)) checkModes(join(path, name))
  }
  checkModes(join(directory, 'data'))
  checkModes(join(directory, 'logs'))
  assert.deepEqual(open, [])

  const audited = readFileSync(join(directory, 'logs', 'audit.log'), 'utf8')
  assert.match(audited, /serviceaccounts\/robot\/token/)
  const [, , signature] = token.split('.')
  for (const text of [audited, lines.join('\n')]) {
    for (const secret of [
      password,
      Buffer.from(password).toString('base64'),
      signature!,
      'a-token-of-somebody',
      'PRIVATE KEY',
    ]) {
      assert.ok(!text.includes(secret), `${secret} is logged in\n${text.slice(0, 2000)}`)
    }
  }
  // Controllers' credentials are only in memory, so no file may have anything like a bearer token.
  const { port } = new URL(cluster.url)
  assert.ok(
    lines.every((line) => !/[Bb]earer [\w-]{10}/.test(line)),
    port,
  )
})

test('anonymous users may read health and version only', async (t) => {
  const cluster = await testCluster(t, { apiServerFlags: ['--cors-allowed-origins=^https://pages\\.example$'] })
  const get = async (path: string, headers: Record<string, string> = {}, method = 'GET') => {
    const sent = request(new URL(cluster.url), { path, method, ca: cluster.client.ca, agent: false, headers })
    const [response]: IncomingMessage[] = await once(sent.end(), 'response')
    return { code: response!.statusCode, text: Buffer.concat(await response!.toArray()).toString() }
  }
  for (const path of ['/healthz', '/livez', '/readyz', '/version']) assert.equal((await get(path)).code, 200, path)
  const forbidden = [
    '/',
    '/api',
    '/apis',
    '/apis/apps/v1',
    '/openapi/v2',
    '/openapi/v3',
    '/metrics',
    '/metrics/slis',
    '/debug/pprof/',
    '/debug/api_priority_and_fairness/dump_requests',
    '/debug/flags/v',
    '/statusz',
    '/flagz',
    '/configz',
    '/.well-known/openid-configuration',
    '/openid/v1/jwks',
    '/healthz/etcd',
    '/healthz/../metrics',
    '/version/../metrics',
    '/version/metrics',
    '/logs/',
    '/api/v1/namespaces',
    '/api/v1/namespaces/default/pods/a/proxy/',
    '/api/v1/namespaces/default/pods/a/exec?command=sh',
    '/apis/none.example/v1/things',
  ]
  const upgrade = {
    connection: 'Upgrade',
    upgrade: 'websocket',
    'sec-websocket-version': '13',
    'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
  }
  for (const path of forbidden) {
    for (const headers of [{}, upgrade, { origin: 'https://pages.example' }, { expect: '100-continue' }]) {
      const { code, text } = await get(path, headers as Record<string, string>)
      assert.equal(code, 403, `${path} ${JSON.stringify(headers)}: ${text.slice(0, 200)}`)
    }
    // The answer to a CORS preflight does not depend on whether the path exists.
    const preflight = await get(
      path,
      { origin: 'https://pages.example', 'access-control-request-method': 'GET' },
      'OPTIONS',
    )
    assert.deepEqual([preflight.code, preflight.text], [204, ''], path)
    assert.equal((await get(path, { origin: 'https://evil.example' }, 'OPTIONS')).code, 403, path)
  }
})

test('the server listens on loopback only', async (t) => {
  const cluster = await testCluster(t)
  const sockets = readFileSync('/proc/net/tcp', 'utf8')
    .split('\n')
    .concat(readFileSync('/proc/net/tcp6', 'utf8').split('\n'))
  const port = Number(new URL(cluster.url).port).toString(16).toUpperCase().padStart(4, '0')
  const addresses = sockets.flatMap((line) =>
    /^ *\d+: (\w+):(\w+) \w+:0000 0A/.exec(line)?.[2] === port ? [/: (\w+):/.exec(line)![1]!] : [],
  )
  assert.deepEqual(addresses, ['0100007F'])
  // The API does not answer plain HTTP.
  const socket = connectTcp(Number(new URL(cluster.url).port), '127.0.0.1')
  socket.end('GET /version HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
  const answer = Buffer.concat(await socket.toArray().catch(() => [])).toString('latin1')
  assert.doesNotMatch(answer, /gitVersion/)
})
