import assert from 'node:assert/strict'
import { test } from 'node:test'
import { InvalidArgumentError } from 'commander'
import * as flags from './flags.ts'

const rejects = (read: (text: string) => unknown, ...texts: string[]): void => {
  for (const text of texts) assert.throws(() => read(text), InvalidArgumentError, text)
}

test('a port is a number from 0 to 65535', () => {
  assert.equal(flags.port('0'), 0)
  assert.equal(flags.port('65535'), 65535)
  rejects(flags.port, '65536', '-1', '1.5', '', 'https', '0x10')
})

test('-v=2 equals -v 2', () => {
  assert.equal(flags.verbosity('=2'), 2)
  assert.equal(flags.verbosity('4'), 4)
  rejects(flags.verbosity, '11', 'x', '==2')
})

test('--runtime-config is comma-separated and repeatable; a key without a value is true', () => {
  assert.deepEqual(flags.runtimeConfig('api/beta=true,batch/v1=false'), ['api/beta=true', 'batch/v1=false'])
  assert.deepEqual(flags.runtimeConfig('resource.k8s.io/v1alpha3/devicetaintrules', ['api/all=true']), [
    'api/all=true',
    'resource.k8s.io/v1alpha3/devicetaintrules=true',
  ])
  rejects(flags.runtimeConfig, 'api/beta=1', 'a/b/c/d', '=true', 'a b')
})

test('--service-cluster-ip-range takes one range, or one per IP family', () => {
  assert.equal(flags.serviceRanges('10.96.0.0/16, fd00::/108'), '10.96.0.0/16,fd00::/108')
  rejects(flags.serviceRanges, '10.96.0.0', '10.0.0.0/8,10.96.0.0/16', '10.0.0.0/8,fd00::/108,fd01::/108')
})

test('a positive duration must be greater than 0, other durations can be 0', () => {
  assert.equal(flags.durationMs('0s'), 0)
  assert.equal(flags.positiveDurationMs('2s'), 2000)
  rejects(flags.positiveDurationMs, '0s', '5', 'soon')
})
