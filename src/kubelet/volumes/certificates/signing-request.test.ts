import assert from 'node:assert/strict'
import { createPrivateKey, createPublicKey } from 'node:crypto'
import { test } from 'node:test'
import { signedRequestKey } from '../../../api/certificates/rules/signed-request.ts'
import { newKey } from './signing-request.ts'

for (const [keyType, type] of [
  ['RSA3072', 'rsa'],
  ['ECDSAP256', 'ec'],
  ['ECDSAP384', 'ec'],
  ['ECDSAP521', 'ec'],
  ['ED25519', 'ed25519'],
] as const)
  test(`the API server accepts a request with a key of ${keyType}`, async () => {
    const { key, request } = await newKey(keyType)
    const signer = signedRequestKey(request)
    assert.ok(typeof signer !== 'string', String(signer))
    assert.equal(signer.asymmetricKeyType, type)
    assert.match(key, /^-----BEGIN PRIVATE KEY-----\n/)
    assert.ok(createPublicKey(createPrivateKey(key)).equals(signer))
  })

test('an unknown type of key is an error', async () => {
  await assert.rejects(newKey('DSA'), { message: 'unknown key type "DSA"' })
})
