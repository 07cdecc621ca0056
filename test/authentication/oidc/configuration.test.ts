/** `--authentication-config` on a running cluster: several issuers, expressions, anonymous requests, and reloads. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import type { IncomingMessage } from 'node:http'
import { request } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { ConfiguredAuthentication } from '../../../src/apiserver/authentication/configuration/index.ts'
import { tokenCacheMetrics } from '../../../src/apiserver/authentication/tokens/cache-metrics.ts'
import { startCluster } from '../../../src/cluster/start-cluster.ts'
import { MetricsRegistry } from '../../../src/lib/metrics/registry.ts'
import { metricsOf } from '../../admission/webhooks/webhook.ts'
import { type Lifetime, type TestCluster, testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { tokenUser } from '../token-user.ts'
import { audience, openIdProvider, type Provider, signingKey } from './oidc-provider.ts'

const issuerOf = (provider: Provider, more: object = {}) => ({
  url: provider.issuer,
  certificateAuthority: provider.ca,
  audiences: [audience],
  ...more,
})
const configuration = (more: object): string =>
  JSON.stringify({ apiVersion: 'apiserver.config.k8s.io/v1', kind: 'AuthenticationConfiguration', ...more })

async function configured(t: Lifetime, text: string, more: readonly string[] = []) {
  const logged: string[] = []
  const folder = mkdtempSync(join(tmpdir(), 'typernetes-authn-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'authentication.yaml')
  writeFileSync(file, text)
  const cluster = await testCluster(t, {
    apiServerFlags: [`--authentication-config=${file}`, ...more],
    log: (line) => logged.push(line),
  })
  return {
    cluster,
    logged,
    file,
    as: (token: string) => tokenUser(cluster, token),
    write: (next: string) => writeFileSync(file, next),
  }
}

async function anonymously({ client, url }: TestCluster, path: string): Promise<number | undefined> {
  const [response]: IncomingMessage[] = await once(
    request(new URL(path, url), { ca: client.ca, agent: false }).end(),
    'response',
  )
  response!.resume()
  return response!.statusCode
}

test('several issuers have their own mappings, and expressions set user, groups, uid and extra', async (t) => {
  const [plain, expressed] = [await openIdProvider(t), await openIdProvider(t)]
  const { as } = await configured(
    t,
    configuration({
      jwt: [
        { issuer: issuerOf(plain), claimMappings: { username: { claim: 'sub', prefix: 'plain:' } } },
        {
          issuer: issuerOf(expressed, {
            audiences: ['one', 'two'],
            audienceMatchPolicy: 'MatchAny',
            discoveryURL: `${expressed.issuer}/elsewhere/configuration`,
          }),
          claimValidationRules: [{ expression: "claims.org == 'acme'", message: 'only acme' }],
          claimMappings: {
            username: { expression: "claims.org + ':' + claims.sub" },
            groups: { expression: 'claims.roles' },
            uid: { claim: 'id' },
            extra: [{ key: 'example.com/tenant', valueExpression: 'claims.org' }],
          },
          userValidationRules: [{ expression: "!user.groups.exists(g, g.startsWith('system:'))", message: 'reserved' }],
        },
      ],
    }),
  )
  const claims = { aud: 'two', org: 'acme', roles: ['a', 'b'], id: 'u-1' }
  const known = await waitFor('both are known', async () => {
    const [one, two] = [await as(plain.token()), await as(expressed.token(claims))]
    return one.status === 201 && two.status === 201 && [one.user, two.user]
  })
  assert.deepEqual(known, [
    { username: 'plain:jane', groups: ['system:authenticated'] },
    {
      username: 'acme:jane',
      uid: 'u-1',
      groups: ['a', 'b', 'system:authenticated'],
      extra: { 'example.com/tenant': ['acme'] },
    },
  ])
  assert.equal((await as(expressed.token({ ...claims, org: 'other' }))).status, 401)
  assert.equal((await as(expressed.token({ ...claims, aud: 'three' }))).status, 401)
  assert.equal((await as(expressed.token({ ...claims, roles: ['system:masters'] }))).status, 401)
  assert.equal((await as(expressed.token(claims, plain.keys[0]))).status, 401)
  expressed.keys = [signingKey('ES384')]
  assert.equal((await as(expressed.token(claims))).status, 201)
})

test('the file decides on the paths of anonymous requests', async (t) => {
  const { cluster } = await configured(
    t,
    configuration({ anonymous: { enabled: true, conditions: [{ path: '/livez' }, { path: '/version' }] } }),
  )
  assert.deepEqual(
    await Promise.all(
      ['/livez', '/version', '/readyz', '/livez/ping', '/api'].map((path) => anonymously(cluster, path)),
    ),
    [200, 200, 401, 401, 401],
  )
  const { cluster: closed } = await configured(t, configuration({ anonymous: { enabled: false } }))
  assert.equal(await anonymously(closed, '/livez'), 401)
  const { cluster: silent } = await configured(t, configuration({}))
  assert.equal(await anonymously(silent, '/livez'), 200)
})

test('a changed file is reloaded, and an invalid one is logged and ignored', async (t) => {
  const provider = await openIdProvider(t)
  const jwt = (prefix: string) => [
    { issuer: issuerOf(provider), claimMappings: { username: { claim: 'sub', prefix } } },
  ]
  const { as, write, logged, cluster } = await configured(t, configuration({ jwt: jwt('a:') }))
  await waitFor('the provider is known', async () => (await as(provider.token())).user?.username === 'a:jane')
  write(configuration({ jwt: jwt('b:') }))
  await waitFor('the change counts', async () => (await as(provider.token())).user?.username === 'b:jane')
  const logs = (why: RegExp) => waitFor(`the log line ${why}`, () => logged.find((line) => why.test(line)))
  await logs(/^reloaded authentication config$/)
  const other = await openIdProvider(t)
  other.behave('status 500')
  write(
    configuration({
      jwt: [{ issuer: issuerOf(other), claimMappings: { username: { claim: 'sub', prefix: 'other:' } } }],
    }),
  )
  await logs(/initializing plugin: 500/)
  assert.equal(
    (await as(provider.token({ sub: 'old' }))).user?.username,
    'b:old',
    'issuers stay until the new ones can be reached',
  )
  other.behave('well')
  await waitFor('the other issuer is believed', async () => (await as(other.token())).user?.username === 'other:jane', {
    deadlineMs: 30_000,
  })
  assert.equal((await as(provider.token({ sub: 'gone' }))).status, 401)
  write(configuration({ jwt: jwt('b:') }))
  await waitFor(
    'the first issuer is believed again',
    async () => (await as(provider.token({ sub: 'back' }))).status === 201,
  )
  write(
    configuration({
      jwt: [
        {
          issuer: { ...issuerOf(provider), url: 'http://x' },
          claimMappings: { username: { claim: 'sub', prefix: '' } },
        },
      ],
    }),
  )
  await logs(
    new RegExp(
      String.raw`^failed to validate authentication config: jwt\[0\]\.issuer\.url: Invalid value: "http://x": URL ` +
        'scheme must be https$',
    ),
  )
  write(configuration({ jwt: jwt('c:'), anonymous: { enabled: false } }))
  await logs(/anonymous: Forbidden: changed from initial configuration file$/)
  write('nonsense: [')
  await logs(/^failed to load authentication config: .*(yaml|YAML|flow)/s)
  assert.equal((await as(provider.token({ sub: 'joe' }))).user?.username, 'b:joe')
  write(configuration({}))
  await waitFor('tokens are rejected', async () => (await as(provider.token())).status === 401)
  const metrics = await metricsOf(cluster)
  const count = (status: string) =>
    new RegExp(
      `apiserver_authentication_config_controller_automatic_reloads_total\\{` +
        `apiserver_id_hash="sha256:[0-9a-f]{64}",status="${status}"\\} ` +
        '(\\d+)',
    ).exec(metrics)?.[1]
  assert.deepEqual([count('success'), count('failure')], ['4', '3'])
  assert.match(
    metrics,
    new RegExp(
      String.raw`apiserver_authentication_config_controller_last_config_info\{apiserver_id_hash="[^"]+",` +
        String.raw`hash="sha256:[0-9a-f]{64}"\} 1`,
    ),
  )
})

test('unreachable issuers are retried while the file names them', async (t) => {
  const provider = await openIdProvider(t)
  provider.behave('status 500')
  const folder = mkdtempSync(join(tmpdir(), 'typernetes-authn-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = join(folder, 'authentication.yaml')
  writeFileSync(file, configuration({}))
  const logged: string[] = []
  const log = (line: string): void => void logged.push(line)
  const metrics = new MetricsRegistry()
  const sources = { disallowed: [], metrics, tokenCache: tokenCacheMetrics(metrics), log }
  const authentication = new ConfiguredAuthentication({
    file,
    anonymousFlag: false,
    readyTimeoutMs: 200,
    retryMs: 50,
    ...sources,
  })
  t.after(() => authentication.stop())
  await authentication.start()
  writeFileSync(
    file,
    configuration({ jwt: [{ issuer: issuerOf(provider), claimMappings: { username: { claim: 'sub', prefix: '' } } }] }),
  )
  const failed = () =>
    logged.filter((line) => /^failed to update authentication config: .*is not healthy: 500/.test(line)).length
  await waitFor('it is tried again', () => failed() > 1)
  provider.behave('well')
  await waitFor('the issuer is believed', () => logged.includes('reloaded authentication config'))
  const verdict = await authentication.authenticate(provider.token(), [])
  assert.equal(verdict && 'user' in verdict && verdict.user.name, 'jane')
  rmSync(file)
  await waitFor('the log line about the missing file', () =>
    logged.includes('failed to read authentication config file: no such file or directory'),
  )
  assert.ok(await authentication.authenticate(provider.token({ sub: 'still' }), []), 'what was read last counts')
})

test('a server with an invalid configuration does not start', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'typernetes-authn-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const file = (text: string): string => {
    const path = join(folder, `${Math.random()}.yaml`)
    writeFileSync(path, text)
    return path
  }
  const start = (...apiServerFlags: string[]) => startCluster({ storage: 'memory', apiServerFlags })
  const config = `--authentication-config=${file(configuration({ anonymous: { enabled: true } }))}`
  await assert.rejects(start(config, '--oidc-client-id=x'), {
    message: 'authentication-config file and oidc-* flags are mutually exclusive',
  })
  await assert.rejects(
    start(config, '--anonymous-auth=true'),
    new RegExp(
      'anonymous: Forbidden: --anonymous-auth flag cannot be set when anonymous field is configured in ' +
        'authentication configuration file',
    ),
  )
  await assert.rejects(start('--oidc-issuer-url=https://x'), {
    message: 'oidc-issuer-url and oidc-client-id must be specified together when any oidc-* flags are set',
  })
  await assert.rejects(start('--oidc-issuer-url=http://x', '--oidc-client-id=x'), {
    message:
      'invalid authentication configuration: jwt[0].issuer.url: Invalid value: "http://x": URL scheme must be https',
  })
  await assert.rejects(start('--oidc-issuer-url=https://x', '--oidc-client-id=x', '--oidc-signing-algs=HS256'), {
    message: 'oidc: unsupported signing alg: "HS256"',
  })
  await assert.rejects(start(`--authentication-config=${file('')}`), /empty config data/)
  await assert.rejects(start(`--authentication-config=${join(folder, 'none')}`), /none: .*no such file or directory/)
})
