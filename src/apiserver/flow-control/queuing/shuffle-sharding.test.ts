import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dealHand, flowHash } from './shuffle-sharding.ts'

test('a hand has different cards of the deck, determined by the hash', () => {
  const remainders = (hash: bigint) => dealHand(hash, 128, 4)
  // 14 + 128·(73 + 127·(118 + 126·(24))): each next card is counted among the remaining ones.
  assert.deepEqual(remainders(14n + 128n * (72n + 127n * (117n + 126n * 24n))), [14, 73, 119, 25])
  assert.deepEqual([...dealHand(0n, 4, 4)].sort(), [0, 1, 2, 3])
})

test("the hash of a flow is the same as upstream's", () => {
  assert.equal(flowHash('service-accounts', 'system:serviceaccount:default:loadtest'), 18_245_108_773_366_159_178n)
  assert.equal(flowHash('s', ''), 708_724_544_354_296_616n)
})

test('hands are the same for a flow, and spread evenly over the queues', () => {
  const [queues, handSize, flows] = [64, 6, 4000]
  const dealt = new Array<number>(queues).fill(0)
  for (let i = 0; i < flows; i++) {
    const hand = dealHand(flowHash('schema', `user-${i}`), queues, handSize)
    assert.equal(new Set(hand).size, handSize)
    for (const card of hand) dealt[card]!++
  }
  assert.deepEqual(dealHand(flowHash('s', 'u'), queues, handSize), dealHand(flowHash('s', 'u'), queues, handSize))
  const expected = (flows * handSize) / queues
  assert.ok(
    Math.min(...dealt) > expected * 0.7 && Math.max(...dealt) < expected * 1.3,
    `${Math.min(...dealt)}..${Math.max(...dealt)} of ${expected}`,
  )
})

test('two flows seldom share all of their queues', () => {
  const hands = Array.from({ length: 300 }, (_, i) => new Set(dealHand(flowHash('schema', `user-${i}`), 128, 6)))
  const [first, ...others] = hands
  assert.equal(others.filter((other) => [...first!].every((card) => other.has(card))).length, 0)
})
