import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../../client/kinds.ts'
import { toleratedSeconds } from './tolerance.ts'

const taint = { key: 'a', effect: 'NoExecute' }

/** A pod that tolerates the taint for so long; for ever if that is undefined. Beyond 2^53 the client reads bigints. */
const tolerating = (seconds: number | bigint | undefined): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'p' },
  spec: {
    containers: [],
    tolerations: [{ key: 'a', operator: 'Exists', tolerationSeconds: seconds as number | undefined }],
  },
})

test('a pod stays as long as it tolerates the taint, however long that is', () => {
  assert.equal(toleratedSeconds(tolerating(300), [taint]), 300)
  assert.equal(toleratedSeconds(tolerating(undefined), [taint]), Number.POSITIVE_INFINITY)
  assert.equal(toleratedSeconds(tolerating(2n ** 63n - 1n), [taint]), 2 ** 63)
  assert.equal(toleratedSeconds(tolerating(-(2n ** 63n)), [taint]), 0)
  assert.equal(toleratedSeconds({ ...tolerating(1), spec: undefined }, [taint]), 0)
})
