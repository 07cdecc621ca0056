/** Filters with and without control of the next handler, and which of their methods are called. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type Handler, type Request, text } from '../http/exchange.ts'
import { compose, type ObservingFilter } from './filter.ts'

const request = {} as Request
const answers: Handler = async () => text(200, 'ok')

/** A filter that records the calls of its methods. */
const noting = (name: string, notes: string[], more: ObservingFilter = {}): ObservingFilter => ({
  begin(request) {
    notes.push(`${name} begins`)
    more.begin?.(request)
  },
  answered(request, response) {
    notes.push(`${name} sees ${response.status}`)
    return more.answered?.(request, response) ?? response
  },
  failed(request, error) {
    notes.push(`${name} fails`)
    if (more.failed) return more.failed(request, error)
    throw error
  },
})

test('responses pass the filters from the inside out', async () => {
  const notes: string[] = []
  const response = await compose(
    [noting('outer', notes), noting('inner', notes, { answered: () => text(201, '') })],
    answers,
  )(request)
  assert.equal(response.status, 201)
  assert.deepEqual(notes, ['outer begins', 'inner begins', 'inner sees 200', 'outer sees 201'])
})

test('synchronous responses and errors stay synchronous', async () => {
  const notes: string[] = []
  const filters = [noting('recovery', notes, { failed: () => text(500, '') }), noting('inner', notes)]
  const answer = compose(filters, () => text(200, ''))(request)
  assert.ok(!(answer instanceof Promise))
  const expected = [...notes]
  notes.length = 0
  assert.equal((await compose(filters, async () => text(200, ''))(request)).status, 200)
  assert.deepEqual(notes, expected)
  const failure = compose(filters, () => {
    throw new Error('behind')
  })(request)
  assert.ok(!(failure instanceof Promise))
  assert.equal(failure.status, 500)
})

test('an error becomes a response for the outer filters if a filter converts it', async () => {
  const notes: string[] = []
  const recovery = noting('recovery', notes, { failed: () => text(500, '') })
  const throwing: Handler = () => {
    throw new Error('behind')
  }
  const response = await compose([noting('outer', notes), recovery, noting('inner', notes)], throwing)(request)
  assert.equal(response.status, 500)
  assert.deepEqual(notes, [
    'outer begins',
    'recovery begins',
    'inner begins',
    'inner fails',
    'recovery fails',
    'outer sees 500',
  ])
})

test('a filter that throws in begin gets no response, and later filters are not called', async () => {
  const notes: string[] = []
  const refusing = noting('refusing', notes, {
    begin() {
      throw new Error('refused')
    },
  })
  let isCalled = false
  const chain = compose(
    [noting('recovery', notes, { failed: () => text(503, '') }), refusing, noting('inner', notes)],
    async () => {
      isCalled = true
      return text(200, '')
    },
  )
  assert.equal((await chain(request)).status, 503)
  assert.equal(isCalled, false)
  assert.deepEqual(notes, ['recovery begins', 'refusing begins', 'recovery fails'])
})

test('an error that no filter converts reaches the caller', async () => {
  const failing: Handler = async () => {
    throw new Error('behind')
  }
  await assert.rejects(
    async () => compose([{ answered: (_request, response) => response }], failing)(request),
    /behind/,
  )
})

test('filters of both kinds keep their order', async () => {
  const notes: string[] = []
  const chain = compose(
    [
      noting('first', notes),
      (request, next) => {
        notes.push('around')
        return next(request)
      },
      noting('last', notes),
    ],
    answers,
  )
  await chain(request)
  assert.deepEqual(notes, ['first begins', 'around', 'last begins', 'last sees 200', 'first sees 200'])
})
