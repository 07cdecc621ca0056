import assert from 'node:assert/strict'
import test from 'node:test'
import { identityHeaders } from './identity-headers.ts'

test('characters of extra keys that are invalid in headers are escaped', () => {
  const user = { name: 'anna', groups: [], extra: { 'example.com/a b%': ['1'], ü: ['2', '3'] } }
  assert.deepEqual(identityHeaders(user), {
    'X-Remote-User': 'anna',
    'X-Remote-Extra-example.com%2Fa%20b%25': ['1'],
    'X-Remote-Extra-%C3%BC': ['2', '3'],
  })
})
