import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ExplainedError } from '../../lib/explained-error.ts'
import { inOptionWords, optionWords } from './option-words.ts'

const none: ReadonlySet<string> = new Set()

test('messages name options in place of flags, with their values', () => {
  const cases: readonly (readonly [string, string])[] = [
    ['choose another with --secure-port, or --secure-port 0', 'choose another with `port`, or `port: 0`'],
    ['start with --service-cluster-ip-range=10.0.0.0/24', 'start with `serviceClusterIpRange: 10.0.0.0/24`'],
    ['use sudo, or leave out --node-type=real', 'use sudo, or leave out `nodes.real`'],
    ['unknown flag: --unknown', 'unknown flag: --unknown'],
  ]
  for (const [message, expected] of cases) assert.equal(inOptionWords(message, none), expected)
})

test('flags that the program gave remain flags', () => {
  const words = optionWords({ apiServerFlags: ['--runtime-config=batch=true'] })
  const error = new ExplainedError('--runtime-config: "batch" has no version')
  assert.equal(words.error(error), error)
})

test('other errors remain what they are', () => {
  const error = new TypeError('--secure-port')
  assert.equal(optionWords({}).error(error), error)
})

test('lines of the log name options, too', () => {
  const lines: string[] = []
  optionWords({}).log((line) => lines.push(line))('no runtime (--node-type=real insists)', 'info')
  assert.deepEqual(lines, ['no runtime (`nodes.real` insists)'])
})
