import assert from 'node:assert/strict'
import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { describe, test } from 'node:test'
import { parseToken } from '../service-accounts/json-web-token.ts'
import { KeySet, parseKeySet } from './key-set.ts'

const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 })
const other = generateKeyPairSync('rsa', { modulusLength: 2048 })
const jwks = (...keys: object[]): string => JSON.stringify({ keys })
const jwk = (key: typeof rsa, kid: string): object => ({ ...key.publicKey.export({ format: 'jwk' }), kid, use: 'sig' })
const text = (header: object): string =>
  `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${Buffer.from('{"sub":"a"}').toString('base64url')}`
const parsed = (signed: string, signature: Buffer) => parseToken(`${signed}.${signature.toString('base64url')}`)!
const token = (key: typeof rsa, kid?: string, alg = 'RS256') => {
  const signed = text({ alg, ...(kid !== undefined && { kid }) })
  return parsed(signed, sign('sha256', Buffer.from(signed), key.privateKey))
}
const unverified = 'failed to verify id token signature'

describe('a key set', () => {
  test('is fetched when a token needs it, and again for an unknown key', async () => {
    let [served, reads] = [jwks(jwk(rsa, 'a')), 0]
    const keys = new KeySet(async () => {
      reads++
      return served
    })
    assert.equal(await keys.fault(token(rsa, 'a')), undefined)
    assert.equal(await keys.fault(token(rsa)), undefined)
    assert.equal(reads, 1)
    served = jwks(jwk(other, 'b'))
    assert.equal(await keys.fault(token(other, 'b')), undefined)
    assert.equal(await keys.fault(token(rsa, 'a')), unverified)
  })

  test('limits fetches for unknown keys, and fetches once for concurrent tokens', async () => {
    let [reads, now] = [0, 0]
    const keys = new KeySet(
      async () => {
        reads++
        return jwks(jwk(rsa, 'a'))
      },
      () => now,
    )
    await Promise.all(Array.from({ length: 100 }, () => keys.fault(token(other, 'x'))))
    assert.equal(reads, 1)
    for (let i = 0; i < 100; i++) await keys.fault(token(other, 'x'))
    assert.equal(reads, 5)
    now = 10_000
    await keys.fault(token(other, 'x'))
    assert.equal(reads, 6)
    assert.equal(await keys.fault(token(rsa, 'a')), undefined)
  })

  test('retains its keys when a fetch fails', async () => {
    let answer: () => Promise<string> = async () => jwks(jwk(rsa, 'a'))
    const keys = new KeySet(() => answer())
    await keys.fault(token(rsa, 'a'))
    answer = () => Promise.reject(new Error('out of order'))
    assert.equal(await keys.fault(token(other, 'x')), 'fetching keys oidc: get keys failed: out of order')
    answer = async () => '[]'
    assert.equal(await keys.fault(token(other, 'x')), 'fetching keys oidc: failed to decode keys: it is no object')
    assert.equal(await keys.fault(token(rsa, 'a')), undefined)
  })

  test('verifies only with the algorithm of the key: HS256 with the public key and unsigned tokens fail', async () => {
    const keys = new KeySet(async () => jwks(jwk(rsa, 'a')))
    const pem = rsa.publicKey.export({ type: 'spki', format: 'pem' })
    const hmac = text({ alg: 'HS256', kid: 'a' })
    assert.equal(await keys.fault(parsed(hmac, createHmac('sha256', pem).update(hmac).digest())), unverified)
    assert.equal(await keys.fault(parsed(text({ alg: 'none' }), Buffer.alloc(0))), unverified)
    assert.equal(await keys.fault(token(rsa, 'a', 'ES256')), unverified)
    assert.equal(await keys.fault(token(rsa, 'a', 'PS256')), unverified)
    assert.equal(await keys.fault(token(rsa, 'a', 'RS512')), unverified)
    assert.equal(await keys.fault(token(rsa, 'a', 'toString')), unverified)
  })

  test('skips keys that cannot sign, symmetric ones included', () => {
    const { n, e } = rsa.publicKey.export({ format: 'jwk' })
    const keys = parseKeySet(
      jwks(
        { kty: 'oct', k: 'c2VjcmV0' },
        { kty: 'RSA', n },
        { kty: 'RSA', n, e, use: 'enc' },
        { kty: 'RSA', n, e, kid: 'good' },
        7 as never,
      ),
    )
    assert.deepEqual(
      keys.map(({ id }) => id),
      ['good'],
    )
    assert.throws(() => parseKeySet(jwks(...Array.from({ length: 300 }, () => ({})))), /at most 256/)
  })
})
