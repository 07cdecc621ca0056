import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isInUserNamespace } from './user-namespace.ts'

test('only a map of all users is that of the machine', () => {
  assert.equal(isInUserNamespace('         0          0 4294967295\n'), false)
  assert.equal(isInUserNamespace('         0       1000          1\n         1     100000      65536\n'), true)
})
