import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../../client/kinds.ts'
import { toleratedSeconds } from './tolerance.ts'

const taint = { key: 'a', effect: 'NoExecute' }

/** A pod that tolerates the taint for `seconds`. Default: forever. The client reads integers beyond 2^53 as bigints. */
const tolerating = (seconds: number | bigint | undefined): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p' },
  spec: {
    containers: [],
    tolerations: [{ key: 'a', operator: 'Exists', tolerationSeconds: seconds as number | undefined }],
  },
})

test('toleratedSeconds returns tolerationSeconds, including values beyond 2^53', () => {
  assert.equal(toleratedSeconds(tolerating(300), [taint]), 300)
  assert.equal(toleratedSeconds(tolerating(undefined), [taint]), Number.POSITIVE_INFINITY)
  assert.equal(toleratedSeconds(tolerating(2n ** 63n - 1n), [taint]), 2 ** 63)
  assert.equal(toleratedSeconds(tolerating(-(2n ** 63n)), [taint]), 0)
  assert.equal(toleratedSeconds({ ...tolerating(1), spec: undefined }, [taint]), 0)
})
