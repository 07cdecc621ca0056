import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'
import test from 'node:test'
import type { BoundKind, BoundObject } from './account-objects.ts'
import { ServiceAccountTokens, type TokenUse } from './index.ts'
import { issueToken } from './issue-token.ts'
import type { ServiceAccountIssuer } from './issuer.ts'
import { signedToken, verificationKey } from './signing-keys.ts'

const issuer = 'https://issuer.example'
const start = Date.parse('2026-01-01T00:00:00Z')
const rsa = () => generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey
const own = rsa()
const stranger = rsa()

/** Tokens of the account `ns/robot`, and the objects that they are bound to. */
function world(options: Partial<ServiceAccountIssuer> = {}) {
  const state = { now: start }
  const uses: TokenUse[] = []
  const objects = new Map<string, Omit<BoundObject, 'object'>>([
    ['serviceaccounts ns/robot', { uid: 'a', deletedMs: undefined }],
    ['pods ns/p', { uid: 'b', deletedMs: undefined }],
    ['secrets ns/s', { uid: 'c', deletedMs: undefined }],
    ['nodes /n', { uid: 'd', deletedMs: undefined }],
  ])
  const tokens = new ServiceAccountTokens({
    issuer: { issuers: [issuer, 'https://older.example'], signingKey: async () => own, ...options },
    audiences: ['api'],
    lookup: (kind: BoundKind, namespace: string, name: string) =>
      objects.get(`${kind} ${namespace}/${name}`) as BoundObject | undefined,
    recordUse: () => {},
    countUse: (use) => uses.push(use),
    now: () => state.now,
  })
  const claims = (more: object = {}) => ({
    iss: issuer,
    sub: 'system:serviceaccount:ns:robot',
    aud: ['api'],
    exp: start / 1000 + 3600,
    nbf: start / 1000,
    iat: start / 1000,
    jti: 'id',
    'kubernetes.io': { namespace: 'ns', serviceaccount: { name: 'robot', uid: 'a' } },
    ...more,
  })
  /** Returns the identity or the reason for the rejection; undefined for tokens of other issuers. */
  const ask = async (token: string, audiences: readonly string[] = tokens.audiences) => {
    const verdict = await tokens.authenticate(token, audiences)
    return verdict && ('refused' in verdict ? verdict.refused : verdict)
  }
  const bound = (more: object) => ({
    'kubernetes.io': { namespace: 'ns', serviceaccount: { name: 'robot', uid: 'a' }, ...more },
  })
  return { state, objects, tokens, uses, claims, ask, bound }
}

const forged = 'go-jose/go-jose: error in cryptographic primitive'
const unknownKey = 'invalid signature, no keys found'
const base64url = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')

test('a token carries account, groups, credential id and bound objects', async () => {
  const { claims, ask, bound } = world()
  const token = signedToken(own, claims(bound({ pod: { name: 'p', uid: 'b' }, node: { name: 'n', uid: 'other' } })))
  assert.deepEqual(await ask(token), {
    user: {
      name: 'system:serviceaccount:ns:robot',
      uid: 'a',
      groups: ['system:serviceaccounts', 'system:serviceaccounts:ns'],
      extra: {
        'authentication.kubernetes.io/credential-id': ['JTI=id'],
        'authentication.kubernetes.io/node-name': ['n'],
        'authentication.kubernetes.io/node-uid': ['other'],
        'authentication.kubernetes.io/pod-name': ['p'],
        'authentication.kubernetes.io/pod-uid': ['b'],
      },
    },
    audiences: ['api'],
  })
})

test('every supported type of key signs and verifies', async () => {
  for (const namedCurve of ['P-256', 'P-384', 'P-521']) {
    const { privateKey } = generateKeyPairSync('ec', { namedCurve })
    const { ask, claims } = world({ signingKey: async () => privateKey })
    assert.equal(typeof (await ask(signedToken(privateKey, claims()))), 'object', namedCurve)
  }
})

test('a forged signature is rejected, whatever key id the token has', async () => {
  const { ask, claims } = world()
  const good = signedToken(own, claims())
  const [head, body, signature] = good.split('.') as [string, string, string]
  assert.equal(await ask(signedToken(stranger, claims())), unknownKey)
  assert.equal(
    await ask(`${head}.${base64url(claims({ sub: 'system:serviceaccount:kube-system:admin' }))}.${signature}`),
    forged,
  )
  assert.equal(await ask(`${head}.${body}.`), forged)
  assert.equal(await ask(`${head}.${body}.${signature.slice(0, -4)}AAAA`), forged)
  // The signature of another key under the id of our key.
  const named = base64url({ alg: 'RS256', kid: verificationKey(own).id })
  const [, , strange] = signedToken(stranger, claims()).split('.')
  assert.equal(await ask(`${named}.${body}.${strange}`), forged)
})

test('the key determines the algorithm: alg none, and HS256 with our public key, are rejected', async () => {
  const { ask, claims } = world()
  const body = base64url(claims())
  for (const alg of ['none', 'None', 'NONE', '']) assert.equal(await ask(`${base64url({ alg })}.${body}.`), forged)
  const pem = verificationKey(own).key.export({ type: 'spki', format: 'pem' })
  const der = verificationKey(own).key.export({ type: 'spki', format: 'der' })
  for (const secret of [pem, der]) {
    for (const kid of [undefined, verificationKey(own).id]) {
      const text = `${base64url({ alg: 'HS256', kid })}.${body}`
      assert.equal(await ask(`${text}.${createHmac('sha256', secret).update(text).digest('base64url')}`), forged)
    }
  }
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  assert.equal(await ask(signedToken(privateKey, claims())), unknownKey)
})

test('a token without a key id is verified with all keys', async () => {
  const { ask, claims } = world({ verificationKeys: keys(stranger, own) })
  const text = `${base64url({ alg: 'RS256' })}.${base64url(claims())}`
  assert.equal(typeof (await ask(`${text}.${sign('sha256', Buffer.from(text), own).toString('base64url')}`)), 'object')
  assert.equal(await ask(`${text}.${sign('sha256', Buffer.from(text), rsa()).toString('base64url')}`), forged)
})

test('a token of one key with the id of another is rejected', async () => {
  const { ask, claims } = world({ verificationKeys: keys(own, stranger) })
  const body = base64url(claims())
  assert.equal(typeof (await ask(signedToken(stranger, claims()))), 'object')
  const named = base64url({ alg: 'RS256', kid: verificationKey(own).id })
  const [, , signature] = signedToken(stranger, claims()).split('.')
  assert.equal(await ask(`${named}.${body}.${signature}`), forged)
})

/** Returns the same array each time, as key files do until they change. */
function keys(...all: readonly KeyObject[]): () => readonly KeyObject[] {
  return () => all
}

test('removing a key invalidates the tokens that were verified with it', async () => {
  let current: readonly KeyObject[] = [own, stranger]
  const { ask, claims } = world({ verificationKeys: () => current })
  const token = signedToken(stranger, claims())
  assert.equal(typeof (await ask(token)), 'object')
  assert.equal(typeof (await ask(token)), 'object')
  current = [own]
  assert.equal(await ask(token), unknownKey)
  current = [own, stranger]
  assert.equal(typeof (await ask(token)), 'object')
})

test('a token is valid from nbf to exp, with a tolerance of a minute', async () => {
  const { state, ask, claims } = world()
  const token = signedToken(own, claims())
  const expired = 'service account token has expired'
  assert.equal(typeof (await ask(token)), 'object')
  state.now = start + 3660_000
  assert.equal(typeof (await ask(token)), 'object')
  state.now += 1
  assert.equal(await ask(token), expired)
  state.now = start - 60_001
  assert.equal(await ask(token), 'service account token is not valid yet')
  state.now = start
  for (const exp of ['tomorrow', '9999999999', {}, true])
    assert.equal(await ask(signedToken(own, claims({ exp }))), expired)
})

test('tokens of other issuers, and other texts, are ignored', async () => {
  const { ask, claims } = world()
  assert.equal(await ask(signedToken(own, claims({ iss: 'https://other.example' }))), undefined)
  assert.equal(await ask(signedToken(own, claims({ iss: [issuer] }))), undefined)
  assert.equal(typeof (await ask(signedToken(own, claims({ iss: 'https://older.example' })))), 'object')
  const good = signedToken(own, claims())
  for (const text of ['', 'a', 'a.b', 'a.b.c', '..', `${good}.x`, good.replace('.', '..'), `${good}=`, '{}.{}.x'])
    assert.equal(await ask(text), undefined, text)
  assert.equal(await ask(signedToken(own, claims({ padding: 'x'.repeat(100_000) }))), undefined)
})

test('a token is valid for its audiences only', async () => {
  const { ask, claims } = world()
  const token = signedToken(own, claims({ aud: ['vault', 'other'] }))
  assert.equal(await ask(token), 'token audiences ["vault" "other"] is invalid for the target audiences ["api"]')
  const known = await ask(token, ['x', 'vault'])
  assert.deepEqual(typeof known === 'object' && known.audiences, ['vault'])
  assert.equal(
    await ask(signedToken(own, claims({ aud: [] })), ['vault']),
    'token audiences ["api"] is invalid for the target audiences ["vault"]',
  )
  const unnamed = await ask(signedToken(own, claims({ aud: undefined })))
  assert.deepEqual(typeof unnamed === 'object' && unnamed.annotations, {
    'authentication.k8s.io/legacy-token': 'system:serviceaccount:ns:robot',
  })
})

test('a token becomes invalid with its bound object, and an object of the same name does not restore it', async () => {
  const cases = [
    [
      'serviceaccounts ns/robot',
      {},
      'serviceaccounts "robot" not found',
      /^service account UID \(new\) does not match claim \(a\)$/,
    ],
    [
      'pods ns/p',
      { pod: { name: 'p', uid: 'b' } },
      'service account token has been invalidated',
      /^pod UID \(new\) does not match service account pod ref/,
    ],
    [
      'secrets ns/s',
      { secret: { name: 's', uid: 'c' } },
      'service account token has been invalidated',
      /^secret UID \(new\) does not match/,
    ],
    [
      'nodes /n',
      { node: { name: 'n', uid: 'd' } },
      'service account token has been invalidated',
      /^node UID \(new\) does not match/,
    ],
  ] as const
  for (const [key, more, gone, other] of cases) {
    const { state, objects, ask, claims, bound } = world()
    const token = signedToken(own, claims(bound(more)))
    assert.equal(typeof (await ask(token)), 'object', key)
    const live = objects.get(key)!
    // Valid until the end of its grace period and one more minute.
    objects.set(key, { ...live, deletedMs: start + 30_000 })
    state.now = start + 90_000
    assert.equal(typeof (await ask(token)), 'object', key)
    state.now += 1
    assert.match(String(await ask(token)), /has been (deleted|invalidated)$/)
    objects.delete(key)
    assert.equal(await ask(token), gone)
    objects.set(key, { uid: 'new', deletedMs: undefined })
    assert.match(String(await ask(token)), other)
  }
})

test('a pod token of one hour is extended to a year beyond the maximum, and late use is annotated', async () => {
  const { state, tokens, ask } = world({ maxExpirationSeconds: 7200 })
  const order = { namespace: 'ns', account: { name: 'robot', uid: 'a' }, audiences: ['api'], nowMs: start }
  const made = async (seconds: number, bound = {}) => (await issueToken(tokens, { ...order, seconds, bound })).token
  const lifeOf = (token: string) => {
    const { exp, iat, 'kubernetes.io': k } = JSON.parse(Buffer.from(token.split('.')[1]!, 'base64url').toString())
    return [exp - iat, k.warnafter && k.warnafter - iat]
  }
  const pod = { pod: { name: 'p', uid: 'b' } }
  const token = await made(3607, pod)
  assert.deepEqual(lifeOf(token), [365 * 24 * 3600, 3607])
  assert.deepEqual(lifeOf(await made(3607)), [3607, undefined])
  assert.deepEqual(lifeOf(await made(3600, pod)), [3600, undefined])
  assert.deepEqual(
    lifeOf((await issueToken(tokens, { ...order, audiences: ['vault'], seconds: 3607, bound: pod })).token),
    [3607, undefined],
  )
  const plain = await ask(token)
  assert.ok(typeof plain === 'object' && !plain.annotations)
  state.now = start + 3_617_000
  const late = await ask(token)
  const subject = 'system:serviceaccount:ns:robot'
  assert.deepEqual(typeof late === 'object' && late.annotations, {
    'authentication.k8s.io/stale-token': `subject: ${subject}, seconds after warning threshold: 10`,
  })
})

test('the identity of a token remains the same object', async () => {
  const { ask, claims } = world({ verificationKeys: keys(own) })
  const token = signedToken(own, claims())
  assert.equal(await ask(token), await ask(token))
})

test('uses of tokens are counted, stale ones separately', async () => {
  const { state, uses, ask, claims, bound } = world()
  const renewable = { namespace: 'ns', serviceaccount: { name: 'robot', uid: 'a' }, warnafter: start / 1000 + 60 }
  const token = signedToken(own, claims({ 'kubernetes.io': renewable }))
  await ask(token)
  state.now += 61_000
  await ask(token)
  await ask(signedToken(own, claims(bound({ pod: { name: 'gone', uid: 'x' } }))))
  assert.deepEqual(uses, ['valid', 'stale'])
})
