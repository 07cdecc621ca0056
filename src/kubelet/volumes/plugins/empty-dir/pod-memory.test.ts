import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PodSpec } from '../../../pod-types.ts'
import { podWith } from '../../volumes.fixture.ts'
import { podMemoryLimit } from './pod-memory.ts'

const c = (memory?: string, restartPolicy?: string) => ({
  name: 'c',
  ...(memory && { resources: { limits: { memory } } }),
  ...(restartPolicy && { restartPolicy }),
})

for (const [title, spec, expected] of [
  ['containers add up', { containers: [c('1k'), c('2k')] }, 3000n],
  ['one without a limit means none', { containers: [c('1k'), c()] }, 0n],
  ['the largest init container', { initContainers: [c('9k'), c('5k')], containers: [c('1k')] }, 9000n],
  ['sidecars run beside the others', { initContainers: [c('2k', 'Always'), c('5k')], containers: [c('1k')] }, 7000n],
  ['sidecars and containers', { initContainers: [c('2k', 'Always')], containers: [c('3k')] }, 5000n],
  ["the pod's own", { resources: { limits: { memory: '4k' } }, containers: [c()] }, 4000n],
  ['overhead', { overhead: { memory: '1k' }, containers: [c('3k')] }, 4000n],
] as const satisfies readonly (readonly [string, Partial<PodSpec>, bigint])[])
  test(`the memory of a pod: ${title}`, () => assert.equal(podMemoryLimit(podWith([], spec)), expected))
