import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Target } from '../listener.ts'
import { TargetChoice } from './target-choice.ts'

const [a, b] = [1, 2].map((number) => ({ address: `10.0.0.${number}`, port: 80 })) as [Target, Target]

test('targets are chosen in turn, without those that did not answer', () => {
  const choice = new TargetChoice()
  assert.deepEqual(
    [0, 1, 2].map((now) => choice.choose([a, b], 'x', undefined, now)),
    [a, b, a],
  )
  assert.equal(choice.choose([a, b], 'x', undefined, 0, [b]), a)
  assert.equal(choice.choose([a, b], 'x', undefined, 0, [a, b]), undefined)
})

test('a client stays with its target until it is removed, does not answer, or time is over', () => {
  const choice = new TargetChoice()
  const ask = (now: number, targets = [a, b], tried: Target[] = []) => choice.choose(targets, 'x', 100, now, tried)
  assert.equal(ask(0), a)
  assert.equal(ask(90), a)
  // Each use extends the time.
  assert.equal(ask(180), a)
  assert.equal(choice.choose([a, b], 'y', 100, 180), b)
  assert.equal(ask(181, [b]), b)
  assert.equal(ask(182, [a, b]), b)
  assert.equal(ask(183, [a, b], [b]), a)
  choice.expire(283)
  assert.equal(ask(283), b)
})
