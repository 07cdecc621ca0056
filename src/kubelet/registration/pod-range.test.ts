import assert from 'node:assert/strict'
import { test } from 'node:test'
import { VirtualTime } from '../pods/model/virtual-time.fixture.ts'
import { PodRange } from './pod-range.ts'

function setUp() {
  const time = new VirtualTime()
  const sent: string[] = []
  const logged: string[] = []
  const state = { isAway: false }
  const range = new PodRange({
    schedule: time.schedule,
    log: (line) => void logged.push(line),
    async send(podCidrs) {
      if (state.isAway) throw new Error('the runtime is away')
      sent.push(podCidrs)
    },
  })
  return { time, sent, logged, state, range }
}

test('the runtime gets the range of the node once, and each other one', async () => {
  const { time, sent, range } = setUp()
  range.set([])
  for (const cidrs of [['10.0.0.0/24'], ['10.0.0.0/24'], ['10.0.0.0/24', 'fd00::/64'], []]) {
    range.set(cidrs)
    await time.pass(1)
  }
  assert.deepEqual(sent, ['10.0.0.0/24', '10.0.0.0/24,fd00::/64'])
})

test('a range that the runtime has not taken is sent again, and then the newest', async () => {
  const { time, sent, logged, state, range } = setUp()
  state.isAway = true
  range.set(['10.0.0.0/24'])
  await time.pass(15_000)
  assert.deepEqual(logged, Array(2).fill('failed to update pod CIDR: the runtime is away'))
  state.isAway = false
  range.set(['10.0.1.0/24'])
  await time.pass(30_000)
  assert.deepEqual(sent, ['10.0.1.0/24'])
  state.isAway = true
  range.set(['10.0.2.0/24'])
  await time.pass(1)
  range.stop()
  await time.pass(30_000)
  assert.equal(logged.length, 3)
})
