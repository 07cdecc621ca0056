import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ExplainedError } from '../../../lib/explained-error.ts'
import { runtimeEndpoint } from './other-runtime.ts'

const nothing = () => false
const refusal = (pattern: RegExp) => (error: unknown) => error instanceof ExplainedError && pattern.test(error.message)

test('a given socket must exist and be a path or a URL of a socket', () => {
  const exists = (path: string) => path === '/x.sock'
  assert.equal(runtimeEndpoint('/x.sock', exists), 'unix:///x.sock')
  assert.equal(runtimeEndpoint('unix:///x.sock', exists), 'unix:///x.sock')
  assert.throws(() => runtimeEndpoint('unix:///x.sock', nothing), refusal(/socket \/x\.sock .* does not exist/))
  assert.throws(() => runtimeEndpoint('tcp://1.2.3.4:1', nothing), refusal(/not a socket: write it like unix:/))
})
