import assert from 'node:assert/strict'
import { test } from 'node:test'
import { certificateExpiry, relativeTime, tokenExpiry } from './expiry.ts'
import { nearestName } from './nearest-name.ts'

const token = (claims: unknown): string => `e30.${Buffer.from(JSON.stringify(claims)).toString('base64url')}.signature`

test('tokenExpiry returns the exp claim, or undefined', () => {
  assert.equal(tokenExpiry(token({ exp: 1.5 })), 1500)
  for (const other of [
    'abc',
    'a.b.c',
    'a.b',
    token({}),
    token({ exp: 'soon' }),
    token({ exp: 1e300 }),
    token(null),
    '',
  ])
    assert.equal(tokenExpiry(other), undefined, other)
  assert.equal(certificateExpiry('no certificate'), undefined)
})

test('relativeTime uses the largest unit', () => {
  const second = 1000
  const day = 86_400 * second
  assert.equal(relativeTime(0, 0), 'in 0 seconds')
  assert.equal(relativeTime(90 * second, 0), 'in 1 minute')
  assert.equal(relativeTime(0, 2 * 3600 * second), '2 hours ago')
  assert.equal(relativeTime(400 * day, 0), 'in 400 days')
  assert.equal(relativeTime(0, 800 * day), '2 years ago')
})

test('nearestName finds similar names', () => {
  assert.equal(nearestName('pord', ['dev', 'prod']), 'prod')
  assert.equal(nearestName('Production', ['production-eu', 'dev']), 'production-eu')
  assert.equal(nearestName('x', ['a', 'b']), undefined)
  assert.equal(nearestName('something', ['dev']), undefined)
})
