import assert from 'node:assert/strict'
import { test } from 'node:test'
import { validPayload } from './payload.ts'

const file = { data: Buffer.from(''), mode: 0o644 }

for (const [path, message] of [
  ['', 'invalid path: must not be empty: ""'],
  ['/etc/passwd', 'invalid path: must be relative path: /etc/passwd'],
  ['a/../b', "invalid path: must not contain '..': a/../b"],
  ['..', "invalid path: must not contain '..': .."],
  ['..data', "invalid path: must not start with '..': ..data"],
  ['./..data', "invalid path: must not start with '..': ./..data"],
  ['.', 'invalid path: must not be empty: .'],
  [`a/${'b'.repeat(256)}`, 'invalid path: filenames must be less than or equal to 255 characters'],
  ['a/'.repeat(2100), 'invalid path: must be less than or equal to 4096 characters'],
] as const)
  test(`the path ${JSON.stringify(path.slice(0, 20))} is refused`, () =>
    assert.throws(() => validPayload(new Map([[path, file]])), { message }))

test('paths are cleaned', () => {
  const paths = ['a//b', './c', 'd/./e', 'a..b', 'x/..y']
  assert.deepEqual(
    [...validPayload(new Map(paths.map((path) => [path, file]))).keys()],
    ['a/b', 'c', 'd/e', 'a..b', 'x/..y'],
  )
})
