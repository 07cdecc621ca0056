import assert from 'node:assert/strict'
import { test } from 'node:test'
import { newToken, parseToken, tokenIdOf, tokenText } from './token-form.ts'
import { tokenRows } from './token-rows.ts'
import { checkTokenSettings, listedToken, tokenSecret } from './token-secret.ts'

const token = { id: 'abcdef', secret: '0123456789abcdef' }
const group = 'system:bootstrappers:kubeadm:default-node-token'

test('a token is read and written as six and sixteen characters', () => {
  assert.deepEqual(parseToken('abcdef.0123456789abcdef'), token)
  assert.equal(tokenText(token), 'abcdef.0123456789abcdef')
  assert.throws(() => parseToken('ABCDEF.0123456789abcdef'), /was not of the form/)
  assert.throws(
    () => parseToken('secret-of-somebody'),
    (error: Error) => !error.message.includes('secret-of-somebody'),
  )
})

test('a token is named by itself or by its id', () => {
  assert.equal(tokenIdOf('abcdef.0123456789abcdef'), 'abcdef')
  assert.equal(tokenIdOf('abcdef'), 'abcdef')
  assert.throws(() => tokenIdOf('abc'), /didn't match pattern/)
})

test('a new token uses each character with the same probability', () => {
  const bytes = [255, 0, 35, 36, 251]
  const { id, secret } = newToken((count) => Uint8Array.from({ length: count }, (_, index) => bytes[index % 5]!))
  assert.deepEqual([id, secret.length], ['0z0z0z', 16])
})

test('the Secret of a token has the fields of kubeadm, and is listed as it was made', () => {
  const expires = new Date('2026-11-29T10:00:00.500Z')
  const settings = { token, description: 'rack 4', expires, usages: ['signing', 'authentication'], groups: [group] }
  const secret = tokenSecret(settings)
  assert.equal(secret.metadata.name, 'bootstrap-token-abcdef')
  assert.equal(secret.type, 'bootstrap.kubernetes.io/token')
  const texts = Object.entries(secret.data ?? {}).map(([key, value]) => [key, Buffer.from(value, 'base64').toString()])
  assert.deepEqual(Object.fromEntries(texts), {
    'token-id': 'abcdef',
    'token-secret': '0123456789abcdef',
    description: 'rack 4',
    expiration: '2026-11-29T10:00:00Z',
    'usage-bootstrap-signing': 'true',
    'usage-bootstrap-authentication': 'true',
    'auth-extra-groups': group,
  })
  const listed = listedToken(secret)
  assert.deepEqual(listed?.usages, ['authentication', 'signing'])
  assert.deepEqual(tokenRows([listed!], Date.parse('2026-11-28T10:00:01Z')), [
    ['abcdef.0123456789abcdef', '23h', '2026-11-29T10:00:00Z', 'authentication,signing', 'rack 4', group],
  ])
})

test('a token without an end, and one whose end cannot be read, are listed as such', () => {
  const secret = tokenSecret({ token, usages: ['signing'], groups: [] })
  const end = (text: string) => ({
    ...secret,
    data: { ...secret.data, expiration: Buffer.from(text).toString('base64') },
  })
  const cells = (one: typeof secret) => tokenRows([listedToken(one)!], 0)[0]!.slice(1, 3)
  assert.deepEqual(cells(secret), ['<forever>', '<never>'])
  assert.deepEqual(cells(end('tomorrow')), ['<invalid>', '<invalid>'])
})

test('unknown usages and groups are refused', () => {
  assert.throws(
    () => checkTokenSettings({ usages: ['sign'], groups: [] }),
    /invalid bootstrap token usage string: sign/,
  )
  assert.throws(() => checkTokenSettings({ usages: ['authentication'], groups: ['admins'] }), /is invalid \(must match/)
  assert.throws(() => checkTokenSettings({ usages: ['signing'], groups: [group] }), /usage authentication/)
})
