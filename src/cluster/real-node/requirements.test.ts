import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ExplainedError } from '../../lib/explained-error.ts'
import { checkMachine, runtimeEndpoint } from './requirements.ts'

const nothing = { exists: () => false }
const having = (...paths: readonly string[]) => ({ exists: (path: string) => paths.includes(path) })
const refusal = (pattern: RegExp) => (error: unknown) => error instanceof ExplainedError && pattern.test(error.message)

test('a real node needs Linux and root, and says what else to do', () => {
  const exists = () => true
  assert.throws(
    () => checkMachine({ platform: 'darwin', userId: 501, exists }),
    refusal(/needs Linux.*runs darwin.*leave/),
  )
  assert.throws(
    () => checkMachine({ platform: 'linux', userId: 1000, exists }),
    refusal(/needs root.*use sudo, or leave/),
  )
  checkMachine({ platform: 'linux', userId: 0, exists })
})

test('a given socket must exist and be a path or a URL of a socket', () => {
  assert.equal(runtimeEndpoint('/x.sock', having('/x.sock')), 'unix:///x.sock')
  assert.equal(runtimeEndpoint('unix:///x.sock', having('/x.sock')), 'unix:///x.sock')
  assert.throws(() => runtimeEndpoint('unix:///x.sock', nothing), refusal(/socket \/x\.sock .* does not exist/))
  assert.throws(() => runtimeEndpoint('tcp://1.2.3.4:1', nothing), refusal(/not a socket: write it like unix:/))
})
