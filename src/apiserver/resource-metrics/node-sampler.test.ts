import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { NodeSample } from './node-sample.ts'
import { NodeSampler } from './node-sampler.ts'

interface TestNode {
  readonly metadata: { readonly name: string; readonly uid: string }
}

const node = (name: string, uid = name): TestNode => ({ metadata: { name, uid } })
const emptySample = (): NodeSample => ({ node: undefined, pods: new Map() })

/** A sampler with a clock, whose nodes answer as `answers` says. */
function sampler(answers: (name: string) => Promise<NodeSample>) {
  const state = { now: 1_000_000, requests: [] as string[], log: [] as string[] }
  const tested = new NodeSampler<TestNode>({
    fetch: ({ metadata: { name } }) => {
      state.requests.push(name)
      return answers(name)
    },
    log: (line) => state.log.push(line),
    now: () => state.now,
  })
  return { state, sample: (one: TestNode) => tested.sample(one) }
}

test('a sample is shared by concurrent requests, and cached for five seconds', async () => {
  const { state, sample } = sampler(async () => emptySample())
  const [first, second] = await Promise.all([sample(node('a')), sample(node('a'))])
  assert.ok(first)
  assert.equal(first, second)
  state.now += 4_999
  assert.equal(await sample(node('a')), first)
  assert.equal(state.requests.length, 1)
  state.now += 1
  assert.notEqual(await sample(node('a')), first)
  assert.equal(state.requests.length, 2)
})

test('a node that was deleted and created again has no sample of the old one', async () => {
  const { sample } = sampler(async () => emptySample())
  const first = await sample(node('a', 'first'))
  assert.notEqual(await sample(node('a', 'second')), first)
})

test('a failed node is logged once, tried every five seconds, and not waited for until it answers', async () => {
  let answer = (): Promise<NodeSample> => Promise.reject(new Error('connection refused'))
  const { state, sample } = sampler(() => answer())
  assert.equal(await sample(node('a')), undefined)
  state.now += 4_999
  assert.equal(await sample(node('a')), undefined)
  assert.equal(state.requests.length, 1)
  state.now += 1
  const hanging = Promise.withResolvers<NodeSample>()
  answer = () => hanging.promise
  assert.equal(await sample(node('a')), undefined, 'it does not wait')
  assert.equal(await sample(node('a')), undefined)
  assert.equal(state.requests.length, 2, 'one attempt at a time')
  const sampled = emptySample()
  hanging.resolve(sampled)
  await new Promise(setImmediate)
  assert.equal(await sample(node('a')), sampled)
  assert.deepEqual(state.log, ['the usage of node a cannot be read: connection refused'])
})

test('the last sample is returned for fifteen seconds while a node does not answer', async () => {
  let answer = async (): Promise<NodeSample> => emptySample()
  const { state, sample } = sampler(() => answer())
  const last = await sample(node('a'))
  answer = () => Promise.reject(new Error('connection refused'))
  state.now += 6_000
  assert.equal(await sample(node('a')), last)
  state.now += 9_000
  assert.equal(await sample(node('a')), undefined)
})

test('many nodes that hang do not take the slots of nodes that answer', async () => {
  const pending: ((error: Error) => void)[] = []
  const hang = (): Promise<NodeSample> => new Promise((_, reject) => pending.push(reject))
  let isFirst = true
  const { state, sample } = sampler((name) => {
    if (!name.startsWith('dead')) return Promise.resolve(emptySample())
    return isFirst ? Promise.reject(new Error('down')) : hang()
  })
  const dead = Array.from({ length: 100 }, (_, i) => node(`dead-${i}`))
  await Promise.all(dead.map(sample))
  isFirst = false
  state.now += 5_000
  await Promise.all(dead.map(sample))
  assert.equal(pending.length, 8)
  const answers = await Promise.all(Array.from({ length: 100 }, (_, i) => sample(node(`alive-${i}`))))
  assert.ok(answers.every(Boolean))
})

test('at most 64 nodes are requested at the same time', async () => {
  const waiting: (() => void)[] = []
  const { state, sample } = sampler(() => new Promise((resolve) => waiting.push(() => resolve(emptySample()))))
  const all = Promise.all(Array.from({ length: 70 }, (_, i) => sample(node(`n-${i}`))))
  await new Promise(setImmediate)
  assert.equal(state.requests.length, 64)
  while (state.requests.length < 70 || waiting.length > 0) {
    waiting.shift()?.()
    await new Promise(setImmediate)
  }
  assert.equal((await all).length, 70)
})
