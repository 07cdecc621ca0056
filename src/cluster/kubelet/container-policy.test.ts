import assert from 'node:assert/strict'
import { test } from 'node:test'
import { defaultContainerPolicy } from '../../kubelet/containers/collection/collection-plan.ts'
import { containerPolicy } from './container-policy.ts'
import { kubeletFlags } from './flags/index.ts'

const policyOf = (...flags: string[]) => containerPolicy(kubeletFlags(flags))

test('flags limit the containers that remain after their end', () => {
  assert.deepEqual(policyOf(), defaultContainerPolicy)
  assert.deepEqual(
    policyOf(
      '--minimum-container-ttl-duration=1m30s',
      '--maximum-dead-containers-per-container=2',
      '--maximum-dead-containers=100',
    ),
    { minAgeMs: 90_000, maxPerContainer: 2, maxContainers: 100 },
  )
  assert.throws(() => policyOf('--minimum-container-ttl-duration=-1m30s'), {
    message: 'invalid minimum garbage collection age: -1m30s',
  })
})
