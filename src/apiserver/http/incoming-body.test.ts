import assert from 'node:assert/strict'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { BodyBudget } from './bounds/body-budget.ts'
import { IncomingBody } from './incoming-body.ts'

const limits = { bodyBytes: 1000, smallBodyReserve: 400, smallBodyBytes: 100 }

function incoming(budget: BodyBudget, declared?: number) {
  const source = new PassThrough()
  return { source, body: new IncomingBody(source, budget, declared?.toString()) }
}

test('a body counts against the budget until its request is answered', async () => {
  const budget = new BodyBudget({ ...limits, bodyBytes: 100_000 })
  for (const declared of [9, undefined]) {
    const { source, body } = incoming(budget, declared)
    const read = body.read(100)
    for (const part of ['one', 'two', 'six']) source.write(part)
    source.end()
    assert.equal((await read).toString(), 'onetwosix')
    assert.ok(budget.held >= 9)
    body.release()
    body.release()
    assert.equal(budget.held, 0)
  }
})

test('a body is assembled correctly from pieces of any size', async () => {
  const budget = new BodyBudget({ ...limits, bodyBytes: 10_000_000, smallBodyReserve: 0 })
  const bytes = Buffer.from(Array.from({ length: 700_000 }, (_, i) => i % 251))
  for (const declared of [bytes.length, undefined]) {
    for (const size of [1009, 16_384, 70_001, 300_000]) {
      const { source, body } = incoming(budget, declared)
      const read = body.read(bytes.length)
      for (let at = 0; at < bytes.length; at += size) source.write(bytes.subarray(at, at + size))
      source.end()
      assert.ok(bytes.equals(await read))
      body.release()
    }
  }
  assert.equal(budget.held, 0)
})

test('a body above the limit is rejected before it is read if its length is declared, otherwise later', async () => {
  const budget = new BodyBudget(limits)
  const announced = incoming(budget, 101)
  await assert.rejects(announced.body.read(100), { code: 413, message: 'Request entity too large: limit is 100' })
  assert.equal(announced.source.listenerCount('data'), 0)
  const { source, body } = incoming(budget)
  const read = body.read(100)
  source.write(Buffer.alloc(60))
  source.write(Buffer.alloc(60))
  await assert.rejects(read, { code: 413 })
  assert.equal(budget.held, 0)
})

test('large bodies are rejected when the budget is used up, small ones have a reserve', async () => {
  const budget = new BodyBudget(limits)
  const large = Array.from({ length: 3 }, () => incoming(budget, 300))
  const reads = large.map(({ body }) => body.read(1000))
  for (const { source } of large) source.write(Buffer.alloc(299))
  await assert.rejects(reads[2]!, { code: 429 })
  const { source, body } = incoming(budget, 100)
  const small = body.read(1000)
  source.end(Buffer.alloc(100))
  assert.equal((await small).length, 100)
  body.release()
  for (const one of large) one.body.release()
  for (const read of reads) await assert.rejects(read)
  assert.equal(budget.held, 0)
})

test('a request that is answered while its body arrives releases the body', async () => {
  const budget = new BodyBudget(limits)
  const { source, body } = incoming(budget, 300)
  const read = body.read(1000)
  source.write(Buffer.alloc(200))
  await new Promise(setImmediate)
  body.release()
  await assert.rejects(read, { code: 400 })
  assert.equal(budget.held, 0)
  source.write(Buffer.alloc(50))
  await new Promise(setImmediate)
  assert.equal(budget.held, 0)
})
