import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodeContinue, encodeContinue } from './continue-token.ts'

const encoded = (token: unknown): string => Buffer.from(JSON.stringify(token)).toString('base64url')
const v = 'meta.k8s.io/v1'

test('continue tokens survive a round trip, whatever names they contain', () => {
  for (const start of ['default/web\0', 'a..b\0', 'ns/..a\0', 'ns/a..\0', 'system:node\0'])
    for (const revision of [-1, 7])
      assert.deepEqual(decodeContinue(encodeContinue({ revision, start })), { revision, start })
  assert.deepEqual(decodeContinue(encoded({ v, rv: 1, start: '/' })), { revision: 1, start: '' })
})

test('an invalid continue token is rejected with the reason', () => {
  for (const [text, fault] of [
    ['nonsense', 'it must be the value that an earlier list returned'],
    [encoded(null), 'it must be the value that an earlier list returned'],
    [encoded({ v: 'v1', rv: 1, start: 'key' }), 'server does not recognize this encoded version v1'],
    [encoded({ v, rv: 0, start: 'key' }), `incorrect encoded start resourceVersion (version ${v})`],
    [encoded({ v, rv: 1, start: '' }), `encoded start key empty (version ${v})`],
    ...['../key', './key', './../key', 'key/../..', '//key'].map(
      (start) => [encoded({ v, rv: 1, start }), start] as const,
    ),
  ] as const)
    assert.throws(
      () => decodeContinue(text),
      { code: 400, message: `invalid continue token: continue key is not valid: ${fault}` },
      fault,
    )
})
