/**
 * Forged service account tokens and tokens for another purpose: the server rejects each with the same message.
 */
import assert from 'node:assert/strict'
import { createHmac, createPrivateKey, createPublicKey, generateKeyPairSync, type JsonWebKey, sign } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { opensslFolder } from '../../authentication/certificates/openssl.ts'
import { ask, bearer } from '../../authentication/whoami.ts'
import { type Lifetime, type TestCluster, testCluster } from '../../support/test-cluster.ts'

type Claims = Readonly<Record<string, unknown>>

const encoded = (value: object | string): string =>
  Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)).toString('base64url')
const decoded = (part = ''): Claims => JSON.parse(Buffer.from(part, 'base64url').toString())

/**
 * A cluster whose signing key the test knows, a token issued for the account `robot`, and a function that signs other
 * tokens.
 */
async function robot(t: Lifetime) {
  const { folder, openssl } = opensslFolder(t)
  openssl('genrsa', '-out', 'sa.key', '2048')
  const key = createPrivateKey(readFileSync(join(folder, 'sa.key')))
  const file = join(folder, 'sa.key')
  const flags = [
    `--service-account-signing-key-file=${file}`,
    `--service-account-key-file=${file}`,
    '--service-account-issuer=https://issuer.example',
  ]
  const cluster = await testCluster(t, { apiServerFlags: flags })
  await cluster.call('POST', '/api/v1/namespaces/default/serviceaccounts', { metadata: { name: 'robot' } })
  const { status } = await cluster.call('POST', '/api/v1/namespaces/default/serviceaccounts/robot/token', {
    spec: { expirationSeconds: 600 },
  })
  const { token } = status as { token: string }
  const [head, body] = token.split('.')
  const signed = (header: object, claims: object): string => {
    const text = `${encoded(header)}.${encoded(claims)}`
    return `${text}.${sign('sha256', Buffer.from(text), key).toString('base64url')}`
  }
  return { cluster, key, token, header: decoded(head), claims: decoded(body), signed }
}

async function assertRejected(cluster: TestCluster, tokens: Readonly<Record<string, string>>): Promise<void> {
  for (const [what, token] of Object.entries(tokens)) {
    const { code, text } = await ask(cluster, bearer(token))
    assert.equal(code, 401, what)
    assert.deepEqual(
      JSON.parse(text),
      {
        kind: 'Status',
        apiVersion: 'v1',
        metadata: {},
        status: 'Failure',
        message: 'Unauthorized',
        reason: 'Unauthorized',
        code: 401,
      },
      what,
    )
  }
  const review = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview' }
  for (const [what, token] of Object.entries(tokens)) {
    if (token === '') continue
    const { status } = await cluster.call('POST', '/apis/authentication.k8s.io/v1/tokenreviews', {
      ...review,
      spec: { token },
    })
    assert.notEqual((status as { authenticated?: boolean }).authenticated, true, what)
  }
}

test('only RS256 signatures by the server’s keys are accepted', async (t) => {
  const { cluster, key, token, header, claims } = await robot(t)
  assert.equal((await ask(cluster, bearer(token))).user?.username, 'system:serviceaccount:default:robot')
  const [head, body, signature] = token.split('.') as [string, string, string]
  const masters = encoded({ ...claims, sub: 'system:serviceaccount:kube-system:admin', groups: ['system:masters'] })
  const otherKey = generateKeyPairSync('rsa', { modulusLength: 2048 })
  const jwk = { ...otherKey.publicKey.export({ format: 'jwk' }), kid: header.kid, alg: 'RS256', use: 'sig' }
  const byOtherKey = (more: object = {}): string => {
    const text = `${encoded({ ...header, ...more })}.${body}`
    return `${text}.${sign('sha256', Buffer.from(text), otherKey.privateKey).toString('base64url')}`
  }
  // The published key as an HMAC secret (algorithm confusion).
  const published = (
    JSON.parse((await ask(cluster, { ...cluster.client, method: 'GET', path: '/openid/v1/jwks' })).text) as {
      keys: JsonWebKey[]
    }
  ).keys[0]!
  const publicKey = createPublicKey(key)
  const pem = publicKey.export({ type: 'spki', format: 'pem' }) as string
  const secrets = {
    pem,
    'pem without its last line': pem.trimEnd(),
    pkcs1: publicKey.export({ type: 'pkcs1', format: 'pem' }) as string,
    der: publicKey.export({ type: 'spki', format: 'der' }),
    jwk: JSON.stringify(published),
    modulus: Buffer.from(published.n ?? '', 'base64url'),
    nothing: '',
  }
  const confused = Object.entries(secrets).flatMap(([what, secret]) =>
    (['HS256', 'HS384', 'HS512'] as const).map((alg): [string, string] => {
      const text = `${encoded({ ...header, alg })}.${body}`
      return [
        `${alg} by ${what}`,
        `${text}.${createHmac(`sha${alg.slice(2)}`, secret)
          .update(text)
          .digest('base64url')}`,
      ]
    }),
  )
  const none = ['none', 'None', 'NONE', 'nOnE', '', null].flatMap((alg): [string, string][] => [
    [`alg ${alg}`, `${encoded({ ...header, alg })}.${body}.`],
    [`alg ${alg} and a signature`, `${encoded({ ...header, alg })}.${body}.${signature}`],
  ])
  await assertRejected(cluster, {
    ...Object.fromEntries(none),
    ...Object.fromEntries(confused),
    'other claims': `${head}.${masters}.${signature}`,
    'no signature': `${head}.${body}.`,
    'no third part': `${head}.${body}`,
    'four parts': `${token}.${signature}`,
    'signature cut': token.slice(0, -8),
    'another key': byOtherKey(),
    'its key in jwk': byOtherKey({ jwk }),
    'URLs of its key': byOtherKey({ jku: 'https://127.0.0.1:1/keys', x5u: 'https://127.0.0.1:1/cert' }),
    'its certificate in x5c': byOtherKey({
      x5c: [otherKey.publicKey.export({ type: 'spki', format: 'der' }).toString('base64')],
    }),
    'a file as kid': byOtherKey({ kid: '../../../../dev/null' }),
    'an inherited property as kid': byOtherKey({ kid: '__proto__' }),
    'an unknown critical header': `${encoded({ ...header, crit: ['exp'] })}.${body}.${signature}`,
    PS256: `${encoded({ ...header, alg: 'PS256' })}.${body}.${signature}`,
    nonsense: 'a.b.c',
    dots: '..',
    huge: `${head}.${body}.${'A'.repeat(200_000)}`,
    'deep claims': `${head}.${encoded(`${'['.repeat(20_000)}${']'.repeat(20_000)}`)}.${signature}`,
  })
})

test('a signed token is valid only for its time, audience, issuer and account', async (t) => {
  const { cluster, header, claims, signed } = await robot(t)
  const now = Math.floor(Date.now() / 1000)
  const inner = claims['kubernetes.io'] as Claims & { readonly serviceaccount: object }
  const of = (more: object): string => signed(header, { ...claims, ...more })
  assert.equal((await ask(cluster, bearer(of({})))).user?.username, 'system:serviceaccount:default:robot')
  await assertRejected(cluster, {
    expired: of({ exp: now - 120, iat: now - 700, nbf: now - 700 }),
    'not yet': of({ nbf: now + 600 }),
    'issued in the future': of({ iat: now + 600 }),
    'exp is not a number': of({ exp: 'never' }),
    'exp is null, for another audience': of({ exp: null, aud: ['vault'] }),
    'for another audience': of({ aud: ['https://vault.example'] }),
    'for inherited properties': of({ aud: ['__proto__', 'constructor'] }),
    'for no valid audience': of({ aud: [1, {}, null] }),
    'of another issuer': of({ iss: 'https://other.example' }),
    'no issuer': of({ iss: '' }),
    'account of another uid': of({ 'kubernetes.io': { ...inner, serviceaccount: { name: 'robot', uid: 'other' } } }),
    'an account that does not exist': of({
      sub: 'system:serviceaccount:default:none',
      'kubernetes.io': { ...inner, serviceaccount: { name: 'none', uid: 'x' } },
    }),
    'account of another namespace': of({ 'kubernetes.io': { ...inner, namespace: 'kube-system' } }),
    'a path for a name': of({ 'kubernetes.io': { ...inner, serviceaccount: { name: '../default/robot', uid: 'x' } } }),
    'no account': of({ 'kubernetes.io': {} }),
    'no claims of Kubernetes': signed(header, { iss: claims.iss, aud: claims.aud, sub: claims.sub, exp: now + 60 }),
    'a pod that does not exist': of({ 'kubernetes.io': { ...inner, pod: { name: 'none', uid: 'x' } } }),
  })
  // Claims of groups and names are ignored.
  const { user } = await ask(
    cluster,
    bearer(of({ groups: ['system:masters'], username: 'admin', sub: 'system:serviceaccount:kube-system:admin' })),
  )
  assert.ok(
    user === undefined ||
      (user.username === 'system:serviceaccount:default:robot' && !user.groups.includes('system:masters')),
  )
})
