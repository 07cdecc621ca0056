import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasOtherUsers, isInUserNamespace } from './user-namespace.ts'

const [machine, ranges, alone] = [
  '         0          0 4294967295\n',
  '         0       1000          1\n         1     100000      65536\n',
  '         0       1000          1\n',
]

test('only a map of all users is that of the machine', () => {
  assert.deepEqual(
    [machine, ranges, alone].map((map) => isInUserNamespace(map)),
    [false, true, true],
  )
})

test('a map of one user has no others', () => {
  assert.deepEqual(
    [machine, ranges, alone].map((map) => hasOtherUsers(map)),
    [true, true, false],
  )
})
