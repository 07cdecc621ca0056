import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../client/kinds.ts'
import { longestGrace } from './content.ts'

const pod = (terminationGracePeriodSeconds?: number, phase = 'Running'): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p' },
  spec: { containers: [], terminationGracePeriodSeconds },
  status: { phase },
})

test('longestGrace returns the longest grace period of pods that have not ended', () => {
  assert.equal(longestGrace([pod(30), pod(60), pod(), pod(90, 'Succeeded'), pod(90, 'Failed')]), 60)
  // The client reads integers beyond 2^53 as bigints.
  assert.equal(longestGrace([pod(30), pod((2n ** 63n - 1n) as unknown as number)]), 2 ** 63)
  assert.equal(longestGrace([]), 0)
})
