import assert from 'node:assert/strict'
import { test } from 'node:test'
import { StatusError } from '../../../machinery/status-error.ts'
import { Turns } from './turns.ts'

const limits = { exclusiveMs: 60_000, waiting: 100 }

test('turns are given in order of request, one at a time, and leave no state behind', async () => {
  const turns = new Turns(limits)
  const order: number[] = []
  let inside = 0
  const writers = Array.from({ length: 20 }, async (_, i) => {
    const turn = await turns.take('a')
    assert.equal(++inside, 1)
    order.push(i)
    await new Promise(setImmediate)
    assert.ok(turn.isExclusive)
    inside--
    turn.end()
  })
  assert.ok(turns.isTaken('a'))
  assert.equal(turns.isTaken('b'), false)
  await (await turns.take('b')).end()
  await Promise.all(writers)
  assert.deepEqual(order, [...order.keys()])
  assert.equal(turns.isTaken('a'), false)
  assert.equal(turns.isTaken('b'), false)
})

test('an aborted waiter leaves the queue, and nobody waits for it', async () => {
  const turns = new Turns(limits)
  const first = await turns.take('a')
  const leaving = new AbortController()
  const second = turns.take('a', leaving.signal)
  const third = turns.take('a')
  leaving.abort(new Error('gone'))
  await assert.rejects(second, /gone/)
  await assert.rejects(turns.take('a', leaving.signal), /gone/)
  first.end()
  ;(await third).end()
  assert.equal(turns.isTaken('a'), false)
})

test('a turn that takes too long admits the next one, and its end does not affect that one', async () => {
  const turns = new Turns({ ...limits, exclusiveMs: 1 })
  const slow = await turns.take('a')
  const next = await turns.take('a')
  assert.equal(slow.isExclusive, false)
  const after = turns.take('a')
  slow.end()
  next.end()
  ;(await after).end()
  assert.equal(turns.isTaken('a'), false)
})

test('a full queue rejects with 429', async () => {
  const turns = new Turns({ ...limits, waiting: 2 })
  const first = await turns.take('a')
  const waiting = [turns.take('a'), turns.take('a')]
  await assert.rejects(
    turns.take('a'),
    (error) => error instanceof StatusError && error.code === 429 && error.status.details?.retryAfterSeconds === 1,
  )
  first.end()
  for (const turn of waiting) (await turn).end()
  assert.equal(turns.isTaken('a'), false)
})
