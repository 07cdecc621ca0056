/**
 * Service account tokens on a running server: created, used, reviewed, and rejected after their bound object is
 * deleted.
 */
import assert from 'node:assert/strict'
import { createPublicKey, generateKeyPairSync, randomUUID, verify } from 'node:crypto'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import test from 'node:test'
import { signedToken } from '../../src/apiserver/authentication/service-accounts/signing-keys.ts'
import { metricsOf } from '../admission/webhooks/webhook.ts'
import { type Lifetime, type TestCluster, testCluster } from '../support/test-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { ask, bearer } from './whoami.ts'

const accounts = '/api/v1/namespaces/default/serviceaccounts'
const secrets = '/api/v1/namespaces/default/secrets'
const pods = '/api/v1/namespaces/default/pods'

interface TokenRequestAnswer {
  readonly token: string
  readonly expirationTimestamp: string
}

async function tokenOf(cluster: TestCluster, account: string, spec: object = {}): Promise<string> {
  const { status } = await cluster.call('POST', `${accounts}/${account}/token`, {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec,
  })
  return (status as TokenRequestAnswer).token
}

const make = (cluster: TestCluster, path: string, name: string, more: object = {}) =>
  cluster.call('POST', path, { metadata: { name }, ...more })

async function review(cluster: TestCluster, token: string, audiences?: readonly string[]) {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token, audiences } }
  return (await cluster.call('POST', '/apis/authentication.k8s.io/v1/tokenreviews', body)).status as Record<
    string,
    unknown
  >
}

const claimsOf = (token: string) => JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())

test('a token authenticates its account, and is reviewed for its audiences', async (t) => {
  const cluster = await testCluster(t)
  const { metadata } = await make(cluster, accounts, 'robot')
  const token = await tokenOf(cluster, 'robot')
  const { jti } = claimsOf(token)
  const user = {
    username: 'system:serviceaccount:default:robot',
    uid: metadata.uid,
    groups: ['system:serviceaccounts', 'system:serviceaccounts:default', 'system:authenticated'],
    extra: { 'authentication.kubernetes.io/credential-id': [`JTI=${jti}`] },
  }
  assert.deepEqual((await ask(cluster, bearer(token))).user, user)
  assert.deepEqual(await review(cluster, token), {
    authenticated: true,
    user,
    audiences: ['https://kubernetes.default.svc.cluster.local'],
  })
  const other = await tokenOf(cluster, 'robot', { audiences: ['vault'] })
  assert.equal((await ask(cluster, bearer(other))).code, 401)
  const { user: reviewed, audiences } = await review(cluster, other, ['x', 'vault'])
  assert.deepEqual([(reviewed as { username: string }).username, audiences], [user.username, ['vault']])
  assert.deepEqual(await review(cluster, other), {
    user: {},
    error:
      'token audiences ["vault"] is invalid for the target audiences ["https://kubernetes.default.svc.cluster.local"]',
  })
  assert.deepEqual(await review(cluster, 'nonsense'), { user: {}, error: 'invalid bearer token' })
})

test('a token ends immediately with its account, pod or secret, and a new object does not restore it', async (t) => {
  const cluster = await testCluster(t)
  const pod = { spec: { serviceAccountName: 'robot', containers: [{ name: 'c', image: 'i' }] } }
  await make(cluster, accounts, 'robot')
  await make(cluster, pods, 'p', pod)
  await make(cluster, secrets, 's')
  const bound = (kind: string, name: string) =>
    tokenOf(cluster, 'robot', { boundObjectRef: { apiVersion: 'v1', kind, name } })
  const [plain, ofPod, ofSecret] = [
    await tokenOf(cluster, 'robot'),
    await bound('Pod', 'p'),
    await bound('Secret', 's'),
  ]
  const codes = () =>
    Promise.all([plain, ofPod, ofSecret].map(async (token) => (await ask(cluster, bearer(token))).code))
  assert.deepEqual(await codes(), [201, 201, 201])
  await cluster.call('DELETE', `${pods}/p?gracePeriodSeconds=0`)
  assert.deepEqual(await codes(), [201, 401, 201])
  await make(cluster, pods, 'p', pod)
  await cluster.call('DELETE', `${secrets}/s`)
  assert.deepEqual(await codes(), [201, 401, 401])
  await make(cluster, secrets, 's')
  assert.deepEqual(await codes(), [201, 401, 401])
  await cluster.call('DELETE', `${accounts}/robot`)
  assert.deepEqual(await codes(), [401, 401, 401])
  await make(cluster, accounts, 'robot')
  assert.deepEqual(await codes(), [401, 401, 401])
  assert.match(String((await review(cluster, plain)).error), /^service account UID \(.*\) does not match claim \(.*\)$/)
})

test('a pod token carries pod and node', async (t) => {
  const cluster = await testCluster(t)
  await make(cluster, accounts, 'robot')
  const { metadata: node } = await make(cluster, '/api/v1/nodes', 'n')
  const { metadata: pod } = await make(cluster, pods, 'p', {
    spec: { serviceAccountName: 'robot', nodeName: 'n', containers: [{ name: 'c', image: 'i' }] },
  })
  const { user } = await ask(
    cluster,
    bearer(await tokenOf(cluster, 'robot', { boundObjectRef: { apiVersion: 'v1', kind: 'Pod', name: 'p' } })),
  )
  const { 'authentication.kubernetes.io/credential-id': _id, ...extra } = user?.extra ?? {}
  assert.deepEqual(extra, {
    'authentication.kubernetes.io/node-name': ['n'],
    'authentication.kubernetes.io/node-uid': [node.uid],
    'authentication.kubernetes.io/pod-name': ['p'],
    'authentication.kubernetes.io/pod-uid': [pod.uid],
  })
  const ofNode = await tokenOf(cluster, 'robot', { boundObjectRef: { apiVersion: 'v1', kind: 'Node', name: 'n' } })
  assert.equal((await ask(cluster, bearer(ofNode))).code, 201)
  await cluster.call('DELETE', '/api/v1/nodes/n')
  assert.equal((await ask(cluster, bearer(ofNode))).code, 401)
})

test('a TokenRequest may name the account’s uid, and another uid is rejected', async (t) => {
  const cluster = await testCluster(t)
  const { metadata } = await make(cluster, accounts, 'robot')
  const request = (said: object) =>
    cluster.call('POST', `${accounts}/robot/token`, {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenRequest',
      metadata: said,
      spec: {},
    })
  for (const said of [{}, { uid: metadata.uid }, { name: 'robot', namespace: 'default' }]) {
    const { name, namespace, uid } = (await request(said)).metadata
    assert.deepEqual([name, namespace, uid], ['robot', 'default', metadata.uid])
  }
  const { client } = cluster
  const refused = await ask(cluster, {
    ...client,
    path: `${accounts}/robot/token`,
    body: { metadata: { uid: 'other' }, spec: {} },
  })
  assert.equal(refused.code, 409)
  assert.equal(
    JSON.parse(refused.text).message,
    'Operation cannot be fulfilled on TokenRequest.authentication.k8s.io "robot": the UID in the token request ' +
      `(other) does not match the UID of the service account (${metadata.uid})`,
  )
  await assert.rejects(
    request({ name: 'other' }),
    /422 .*metadata\.name: Invalid value: \\"other\\": must match the service account name if specified/,
  )
  await assert.rejects(
    request({ namespace: 'other' }),
    /400 .*the namespace of the provided object does not match the namespace sent on the request/,
  )
})

/** A cluster whose signing keys the test knows. */
async function keyed(t: Lifetime, ...flags: readonly string[]) {
  const folder = mkdtempSync(join(tmpdir(), 'keys-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const key = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey
  const file = join(folder, 'sa.key')
  writeFileSync(file, key.export({ type: 'pkcs8', format: 'pem' }))
  return {
    folder,
    key,
    file,
    cluster: await testCluster(t, { apiServerFlags: [`--service-account-signing-key-file=${file}`, ...flags] }),
  }
}

test('a token of a Secret is valid while the Secret has it, its use is labelled, and it can be revoked', async (t) => {
  const { cluster, key } = await keyed(t)
  const { metadata } = await make(cluster, accounts, 'robot')
  const claim = 'kubernetes.io/serviceaccount/'
  const claims = {
    iss: 'kubernetes/serviceaccount',
    [`${claim}namespace`]: 'default',
    [`${claim}secret.name`]: 's',
    [`${claim}service-account.name`]: 'robot',
    [`${claim}service-account.uid`]: metadata.uid,
    sub: 'system:serviceaccount:default:robot',
  }
  const token = signedToken(key, claims)
  const errorOf = async (text: string) => (await review(cluster, text)).error
  assert.equal(await errorOf(token), 'Token has been invalidated')
  await make(cluster, secrets, 's', {
    metadata: { name: 's', annotations: { 'kubernetes.io/service-account.name': 'robot' } },
    type: 'kubernetes.io/service-account-token',
    data: { token: Buffer.from(token).toString('base64') },
  })
  const { user, headers } = await ask(cluster, bearer(token))
  assert.deepEqual(
    [user?.username, user?.uid, user?.extra, headers.warning],
    [claims.sub, metadata.uid, undefined, undefined],
  )
  const labels = async () =>
    ((await cluster.call('GET', `${secrets}/s`)).metadata.labels ?? {}) as Record<string, string>
  await waitFor('its use is noted', async () =>
    /^\d{4}-\d\d-\d\d$/.test((await labels())['kubernetes.io/legacy-token-last-used'] ?? ''),
  )
  // The Secrets that an account lists were created by the former token controller.
  const merge = 'application/merge-patch+json'
  await cluster.call('PATCH', `${accounts}/robot`, { secrets: [{ name: 's' }] }, merge)
  assert.match(
    (await ask(cluster, bearer(token))).headers.warning ?? '',
    /Use tokens from the TokenRequest API or manually created secret-based tokens/,
  )
  await cluster.call(
    'PATCH',
    `${secrets}/s`,
    { metadata: { labels: { 'kubernetes.io/legacy-token-invalid-since': '2026-01-01' } } },
    merge,
  )
  assert.match(
    String(await errorOf(token)),
    /^the token in secret default\/s for service account default\/robot has been marked invalid\. /,
  )
  await cluster.call(
    'PATCH',
    `${secrets}/s`,
    { metadata: { labels: { 'kubernetes.io/legacy-token-invalid-since': null } } },
    merge,
  )
  assert.equal((await ask(cluster, bearer(token))).code, 201)
  const metrics = (await metricsOf(cluster)).split('\n')
  const usesOf = (what: string): number =>
    Number(metrics.find((line) => line.startsWith(`serviceaccount_${what}_total `))?.split(' ')[1])
  for (const what of [
    'legacy_tokens',
    'legacy_manual_token_uses',
    'legacy_auto_token_uses',
    'invalid_legacy_auto_token_uses',
  ])
    assert.ok(usesOf(what) > 0, what)
  assert.equal(await errorOf(signedToken(key, { ...claims, other: 1 })), "Token does not match server's copy")
  assert.equal(
    await errorOf(signedToken(key, { ...claims, sub: 'system:serviceaccount:kube-system:robot' })),
    'sub claim is invalid',
  )
  await cluster.call('PATCH', `${secrets}/s`, { data: { token: null } }, merge)
  assert.equal(await errorOf(token), "Token does not match server's copy")
})

test('the first issuer signs, all are accepted, and discovery lists the keys', async (t) => {
  const flags = [
    '--service-account-issuer=https://new.example',
    '--service-account-issuer=https://old.example',
    '--api-audiences=api,other',
  ]
  const { cluster, key } = await keyed(t, ...flags, '--service-account-jwks-uri=https://new.example/keys')
  const { metadata } = await make(cluster, accounts, 'robot')
  const token = await tokenOf(cluster, 'robot')
  const claims = claimsOf(token)
  assert.deepEqual([claims.iss, claims.aud], ['https://new.example', ['api', 'other']])
  assert.equal((await ask(cluster, bearer(token))).code, 201)
  const older = (iss: string) => signedToken(key, { ...claims, iss, aud: ['other'], jti: randomUUID() })
  assert.equal((await ask(cluster, bearer(older('https://old.example')))).user?.uid, metadata.uid)
  assert.equal((await ask(cluster, bearer(older('https://else.example')))).code, 401)
  const found = await cluster.call('GET', '/.well-known/openid-configuration')
  assert.deepEqual(
    [found.issuer, found.jwks_uri, found.id_token_signing_alg_values_supported],
    ['https://new.example', 'https://new.example/keys', ['ES256']],
  )
  const { keys } = await cluster.call('GET', '/openid/v1/jwks')
  const [head, body, signature] = token.split('.') as [string, string, string]
  const { kid } = JSON.parse(Buffer.from(head, 'base64url').toString())
  const jwk = (keys as { kid: string; kty: string }[]).find((one) => one.kid === kid)!
  const published = createPublicKey({ key: jwk, format: 'jwk' })
  assert.ok(
    verify(
      'sha256',
      Buffer.from(`${head}.${body}`),
      { key: published, dsaEncoding: 'ieee-p1363' },
      Buffer.from(signature, 'base64url'),
    ),
  )
})

test('the lifetime of tokens has a maximum', async (t) => {
  const { cluster } = await keyed(t, '--service-account-max-token-expiration=2h')
  await make(cluster, accounts, 'robot')
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 86_400 } }
  const { client } = cluster
  const answer = await ask(cluster, { ...client, path: `${accounts}/robot/token`, body })
  assert.match(answer.headers.warning ?? '', /requested expiration of 86400 seconds shortened to 7200 seconds/)
  const { spec, status } = JSON.parse(answer.text)
  const { exp, iat } = claimsOf(status.token)
  assert.deepEqual([spec.expirationSeconds, exp - iat], [7200, 7200])
  await assert.rejects(
    testCluster(t, { apiServerFlags: ['--service-account-max-token-expiration=1m'] }),
    /the service-account-max-token-expiration must be between 1 hour and 2\^32 seconds/,
  )
})

test('changed key files are reloaded', async (t) => {
  const { folder, file, cluster, key } = await keyed(t)
  const another = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const bundle = join(folder, 'keys.pem')
  writeFileSync(bundle, createPublicKey(key).export({ type: 'spki', format: 'pem' }))
  const second = await testCluster(t, {
    apiServerFlags: [`--service-account-signing-key-file=${file}`, `--service-account-key-file=${bundle}`],
  })
  await make(second, accounts, 'robot')
  await make(cluster, accounts, 'robot')
  const token = await tokenOf(second, 'robot')
  const strange = signedToken(another.privateKey, { ...claimsOf(token), jti: 'another' })
  const codes = () => Promise.all([token, strange].map(async (one) => (await ask(second, bearer(one))).code))
  assert.deepEqual(await codes(), [201, 401])
  writeFileSync(bundle, another.publicKey.export({ type: 'spki', format: 'pem' }))
  await waitFor('the other key counts', async () => (await codes()).join() === '401,201')
})

test('audit events mark legacy tokens and issued tokens', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'audit-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const [policy, file] = [join(folder, 'policy.yaml'), join(folder, 'audit.log')]
  writeFileSync(
    policy,
    JSON.stringify({ apiVersion: 'audit.k8s.io/v1', kind: 'Policy', rules: [{ level: 'Metadata' }] }),
  )
  const { cluster, key } = await keyed(
    t,
    `--audit-policy-file=${policy}`,
    `--audit-log-path=${file}`,
    '--service-account-lookup=false',
  )
  await make(cluster, accounts, 'robot')
  const { jti } = claimsOf(await tokenOf(cluster, 'robot'))
  const claim = 'kubernetes.io/serviceaccount/'
  const names = {
    namespace: 'default',
    'secret.name': 's',
    'service-account.name': 'robot',
    'service-account.uid': 'u',
  }
  const sub = 'system:serviceaccount:default:robot'
  const claims = Object.fromEntries(Object.entries(names).map(([name, value]) => [`${claim}${name}`, value]))
  assert.equal(
    (await ask(cluster, bearer(signedToken(key, { iss: 'kubernetes/serviceaccount', sub, ...claims })))).code,
    201,
  )
  await waitFor('both events', () => {
    const log = readFileSync(file, 'utf8')
    return (
      log.includes(`"authentication.k8s.io/legacy-token":"${sub}"`) &&
      log.includes(`"authentication.kubernetes.io/issued-credential-id":"JTI=${jti}"`)
    )
  })
})
