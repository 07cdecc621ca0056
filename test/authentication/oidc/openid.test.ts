/**
 * Tokens of OpenID providers on a running cluster, configured by flags: users, key rotation, rejected tokens, with a
 * real kubectl.
 */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { metricsOf } from '../../admission/webhooks/webhook.ts'
import { installedKubectls, Kubectl } from '../../support/kubectl.ts'
import { type Lifetime, testCluster } from '../../support/test-cluster.ts'
import { waitFor } from '../../support/wait-for.ts'
import { tokenUser } from '../token-user.ts'
import { audience, discoveryPath, openIdProvider, type Provider, signed, signingKey } from './oidc-provider.ts'

/** A cluster that trusts the provider. */
async function clusterFor(t: Lifetime, provider: Provider, more: readonly string[] = []) {
  const logged: string[] = []
  const folder = mkdtempSync(join(tmpdir(), 'typernetes-openid-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const ca = join(folder, 'ca.crt')
  writeFileSync(ca, provider.ca)
  const apiServerFlags = [
    `--oidc-issuer-url=${provider.issuer}`,
    `--oidc-client-id=${audience}`,
    `--oidc-ca-file=${ca}`,
    ...more,
  ]
  const cluster = await testCluster(t, { apiServerFlags, log: (line) => logged.push(line) })
  const as = (token: string) => tokenUser(cluster, token)
  return {
    cluster,
    logged,
    as,
    ready: () => waitFor('the provider is known', async () => (await as(provider.token())).status === 201),
  }
}

test('a token of the provider gives a user with name, groups and the permissions of a binding', async (t) => {
  const provider = await openIdProvider(t)
  const { as, cluster } = await clusterFor(t, provider, [
    '--oidc-groups-claim=groups',
    '--oidc-groups-prefix=oidc:',
    '--oidc-required-claim=hd=a,b',
  ])
  await waitFor('the provider is known', async () => (await as(provider.token({ hd: 'a,b' }))).status === 201)
  const { user } = await as(provider.token({ hd: 'a,b', groups: ['dev', 'ops'] }))
  assert.deepEqual(user, {
    username: `${provider.issuer}#jane`,
    groups: ['oidc:dev', 'oidc:ops', 'system:authenticated'],
  })
  assert.equal((await as(provider.token({ hd: 'a' }))).status, 401)
  assert.equal((await as(provider.token())).status, 401)
  const review = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenReview',
    spec: { token: provider.token({ hd: 'a,b' }) },
  }
  const reviewed = (await cluster.call('POST', '/apis/authentication.k8s.io/v1/tokenreviews', review)).status as Record<
    string,
    unknown
  >
  assert.equal(reviewed.authenticated, true)
})

test('tokens of other issuers, for other audiences or expired are rejected, and the reason is logged', async (t) => {
  const provider = await openIdProvider(t)
  const stranger = await openIdProvider(t)
  const { as, ready, logged } = await clusterFor(t, provider, ['--oidc-username-prefix=-'])
  await ready()
  assert.equal((await as(provider.token())).user?.username, 'jane')
  const key = provider.keys[0]!
  const seconds = Math.floor(Date.now() / 1000)
  const claims = { iss: provider.issuer, aud: audience, sub: 'jane', exp: seconds + 600 }
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const unsigned = `${encoded({ alg: 'none' })}.${encoded(claims)}.`
  const text = `${encoded({ alg: 'HS256', kid: key.id })}.${encoded(claims)}`
  const hmac = createHmac('sha256', key.publicKey.export({ type: 'spki', format: 'pem' }))
    .update(text)
    .digest('base64url')
  const cases: readonly (readonly [string, string, RegExp | undefined])[] = [
    ['of another issuer', stranger.token(), undefined],
    ['for another audience', provider.token({ aud: 'somebody' }), /expected audience "my-client" got \["somebody"\]/],
    ['for nobody', provider.token({ aud: undefined }), /expected audience "my-client" got \[\]/],
    [
      'that has expired',
      provider.token({ exp: seconds - 5 }),
      /oidc: verify token: oidc: token is expired \(Token Expiry: /,
    ],
    ['that never expires', provider.token({ exp: undefined }), /token is expired/],
    ['that begins later', provider.token({ nbf: seconds + 300 }), /before the nbf \(not before\) time/],
    ['that nobody signed', unsigned, /unsupported algorithm, expected \["RS256"\] got "none"/],
    ['signed with the public key', `${text}.${hmac}`, /unsupported algorithm, expected \["RS256"\] got "HS256"/],
    [
      'signed with the key of another issuer',
      provider.token({}, stranger.keys[0]),
      /failed to verify signature: failed to verify id token signature/,
    ],
    [
      'signed with that key by our name',
      signed({ ...stranger.keys[0]!, id: key.id }, claims),
      /failed to verify id token signature/,
    ],
    [
      'with claims that are nowhere',
      provider.token({ _claim_names: { address: 'src' } }),
      /oidc: verify token: oidc: source does not exist/,
    ],
    ['without a user', provider.token({ sub: undefined }), /parse username claims "sub": claim not present/],
  ]
  for (const [what, token, why] of cases) {
    logged.length = 0
    assert.equal((await as(token)).status, 401, what)
    if (why) assert.match(logged.join('\n'), why, what)
    else assert.deepEqual(logged, [], what)
  }
  assert.equal((await as(provider.token({ aud: ['a', audience] }))).status, 201)
})

test('keys rotate without a restart', async (t) => {
  const provider = await openIdProvider(t)
  const { as, ready, cluster } = await clusterFor(t, provider, ['--oidc-signing-algs=RS256,ES256,PS256'])
  await ready()
  const old = provider.token({ sub: 'before' })
  provider.keys = [signingKey('ES256'), signingKey('PS256')]
  assert.equal((await as(provider.token({ sub: 'after' }))).status, 201)
  assert.equal((await as(provider.token({ sub: 'also' }, provider.keys[1]))).status, 201)
  assert.equal((await as(old)).status, 401)
  provider.keys = [signingKey('ES384')]
  assert.equal((await as(provider.token())).status, 401)
  const metrics = await metricsOf(cluster)
  assert.match(
    metrics,
    new RegExp(
      String.raw`apiserver_authentication_jwt_authenticator_latency_seconds_count\{` +
        String.raw`jwt_issuer_hash="sha256:[0-9a-f]{64}",result="success"\} [1-9]`,
    ),
  )
  assert.match(
    metrics,
    /apiserver_authentication_jwt_authenticator_jwks_fetch_last_timestamp_seconds\{[^}]*result="success"\} /,
  )
})

test('tokens with unknown keys trigger few fetches', async (t) => {
  const provider = await openIdProvider(t)
  const { as, ready } = await clusterFor(t, provider)
  await ready()
  provider.asked()
  const stranger = signingKey('RS256')
  for (let i = 0; i < 30; i++)
    assert.equal((await as(provider.token({ sub: `u${i}` }, { ...stranger, id: `k${i}` }))).status, 401)
  assert.ok(provider.asked().length <= 8)
  assert.equal((await as(provider.token())).status, 201)
})

test('an unreachable provider is retried after the start, and other users are served meanwhile', async (t) => {
  const port = await freePort()
  const issuer = `https://127.0.0.1:${port}`
  const provider = { issuer, ca: (await openIdProvider(t)).ca } as Provider
  const { cluster, as, logged } = await clusterFor(t, provider)
  const token = signed(signingKey(), { iss: issuer, aud: audience, sub: 'jane', exp: Date.now() })
  assert.equal((await as(token)).status, 401)
  assert.match(logged.join('\n'), /oidc: authenticator not initialized/)
  await waitFor('the log line', () =>
    /initializing plugin: Get "https:\/\/127.0.0.1:\d+\/.well-known\/openid-configuration": dial tcp 127/.test(
      logged.join('\n'),
    ),
  )
  assert.equal((await cluster.call('GET', '/api/v1/namespaces/default')).kind, 'Namespace')
})

test('a misbehaving provider does not affect other users', async (t) => {
  for (const [manner, why] of [
    ['huge', /the answer is larger than 65536 bytes/],
    ['slowly without end', undefined],
    ['never', undefined],
    ['redirects elsewhere', /redirect to another server is not allowed: "https:\/\/localhost:1\//],
    ['another issuer', /issuer did not match the issuer returned by provider/],
    ['status 500', /initializing plugin: 500 Internal Server Error: out of order/],
  ] as const) {
    const provider = await openIdProvider(t)
    provider.behave(manner, discoveryPath)
    const { as, logged, cluster } = await clusterFor(t, provider)
    assert.equal((await as(provider.token())).status, 401, manner)
    if (why) await waitFor(`the log line of ${manner}`, () => why.test(logged.join('\n')))
    assert.equal((await cluster.call('GET', '/api/v1/namespaces/default')).kind, 'Namespace')
  }
})

test('huge keys are rejected, and redirects within the provider are followed', async (t) => {
  const provider = await openIdProvider(t)
  provider.behave('redirects', discoveryPath)
  const { as, ready, logged } = await clusterFor(t, provider)
  await ready()
  provider.behave('huge', '/keys')
  assert.equal((await as(provider.token({}, signingKey()))).status, 401)
  assert.match(
    logged.join('\n'),
    /fetching keys oidc: get keys failed: Get "https:\/\/127.0.0.1:\d+\/keys": the answer is larger than 1048576 bytes/,
  )
  assert.equal((await as(provider.token({ sub: 'other' }))).status, 201)
})

test('groups may be distributed claims', async (t) => {
  const provider = await openIdProvider(t)
  const { as, logged } = await clusterFor(t, provider, ['--oidc-groups-claim=groups', '--oidc-username-prefix=-'])
  await waitFor('the provider is known', async () => (await as(provider.token())).status === 201)
  provider.serve('/groups', provider.token({ groups: ['far', 'away'] }))
  const distributed = {
    _claim_names: { groups: 'src' },
    _claim_sources: { src: { endpoint: `${provider.issuer}/groups`, access_token: 'secret' } },
  }
  const { user } = await as(provider.token(distributed))
  assert.deepEqual(user?.groups, ['far', 'away', 'system:authenticated'])
  assert.equal(provider.asked().find(({ path }) => path === '/groups')?.authorization, 'Bearer secret')
  assert.equal(
    (await as(provider.token({ ...distributed, _claim_sources: { src: { endpoint: `${provider.issuer}/gone` } } })))
      .status,
    401,
  )
  assert.match(
    logged.join('\n'),
    /could not expand distributed claims: while getting distributed claim "groups": 404 Not Found/,
  )
})

test('kubectl uses an ID token, or a plug-in that provides one', async (t) => {
  const provider = await openIdProvider(t)
  const { cluster } = await clusterFor(t, provider, [
    '--oidc-username-claim=email',
    '--oidc-groups-claim=groups',
    '--oidc-groups-prefix=oidc:',
  ])
  await waitFor(
    'the provider is known',
    async () => (await tokenUser(cluster, provider.token({ email: 'jane@example.com' }))).status === 201,
  )
  const token = provider.token({ email: 'jane@example.com', email_verified: true, groups: ['dev'] })
  const program = installedKubectls().at(-1)!
  const cluster64 = Buffer.from(cluster.client.ca).toString('base64')
  const config = (user: object): string => {
    const file = join(cluster.folder, `config-${Math.random()}`)
    const context = { name: 'c', context: { cluster: 'c', user: 'u' } }
    const server = { name: 'c', cluster: { server: cluster.url, 'certificate-authority-data': cluster64 } }
    writeFileSync(
      file,
      JSON.stringify({
        apiVersion: 'v1',
        kind: 'Config',
        'current-context': 'c',
        contexts: [context],
        clusters: [server],
        users: [{ name: 'u', user }],
      }),
    )
    return file
  }
  const who = async (kubectl: Kubectl, more = '') =>
    JSON.parse(await kubectl.ok(`auth whoami -o json ${more}`)).status.userInfo
  const expected = { username: 'jane@example.com', groups: ['oidc:dev', 'system:authenticated'] }
  assert.deepEqual(await who(new Kubectl(program, config({}), cluster.folder), `--token=${token}`), expected)
  const script = join(cluster.folder, 'plugin.sh')
  const credential = { apiVersion: 'client.authentication.k8s.io/v1', kind: 'ExecCredential', status: { token } }
  writeFileSync(script, `#!/bin/sh\necho '${JSON.stringify(credential)}'\n`)
  chmodSync(script, 0o755)
  const exec = { apiVersion: 'client.authentication.k8s.io/v1', command: script, interactiveMode: 'Never' }
  const kubectl = new Kubectl(program, config({ exec }), cluster.folder)
  assert.deepEqual(await who(kubectl), expected)
  await kubectl.fails('get pods', /User "jane@example.com" cannot list resource "pods"/)
  await cluster.call('POST', '/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings', {
    metadata: { name: 'dev' },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'Group', name: 'oidc:dev' }],
  })
  await kubectl.ok('get pods')
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}
