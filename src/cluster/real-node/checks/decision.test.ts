import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decideNodeType, reasonIn, simulatedLine } from './decision.ts'
import { ObstacleError } from './obstacle-error.ts'

test('the line of a simulated node names the reason and how to get a real one', () => {
  const error = new ObstacleError({ reason: 't8s runs without root', remedy: 'use sudo', flag: '--node-type=real' })
  assert.equal(
    simulatedLine(reasonIn(error)),
    'node: simulated, because t8s runs without root (use sudo or --node-type=real for a real one)',
  )
  assert.equal(
    error.message,
    'this machine cannot be a real node, because t8s runs without root: use sudo, or leave out --node-type=real',
  )
})

test('other errors of the start are reasons, too', () => {
  assert.equal(reasonIn(new Error('the runtime is away')), 'the runtime is away (--node-type=real insists)')
})

test('a cluster in memory has a simulated node, or none if it insists on a real one', async () => {
  const log = (line: string) => assert.fail(line)
  const runner = { start: async () => {}, stop: async () => void stops++ }
  const inMemory = { folder: undefined, runner, log }
  let stops = 0
  assert.deepEqual(await decideNodeType({ ...inMemory, options: { fallback: 'simulated' } }), {
    type: 'simulated',
    reason: 'the cluster is in memory (set storage to { directory } for a real one)',
  })
  await assert.rejects(decideNodeType({ ...inMemory, options: {} }), /because the cluster is in memory: set storage/)
  assert.equal(stops, 2)
})
