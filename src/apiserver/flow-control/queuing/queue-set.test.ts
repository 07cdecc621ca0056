import assert from 'node:assert/strict'
import { test } from 'node:test'
import { FakeClock } from './fake-clock.fixture.ts'
import { estimatedServiceSeconds, type Limitation, QueueSet } from './queue-set.ts'
import type { Decision, Queue, SeatRequest } from './seat-request.ts'
import { dealHand, flowHash } from './shuffle-sharding.ts'

class TestRequest implements SeatRequest {
  readonly flow: string
  readonly initialSeats: number
  seats: number
  finalSeats: number
  lingerMs: number
  readonly work: number
  waitLimitMs = 15_000
  queue: Queue | undefined = undefined
  executes = false
  arrivedAt = 0
  arrivalR = 0
  startedAt = 0
  decision: Decision | undefined
  /** How often its turn came with too few free seats. */
  vainTurns = 0

  constructor(flow: string, seats = 1, lingerMs = 0, finalSeats = lingerMs > 0 ? seats : 0) {
    this.flow = flow
    this.initialSeats = seats
    this.finalSeats = finalSeats
    this.seats = Math.max(seats, finalSeats)
    this.lingerMs = lingerMs
    this.work = seats * estimatedServiceSeconds + (finalSeats * lingerMs) / 1000
  }

  narrow(most: number): void {
    this.lingerMs *= this.finalSeats / most
    this.finalSeats = most
    this.seats = Math.max(this.initialSeats, most)
  }

  unaccommodated(): void {
    this.vainTurns++
  }

  hand({ queues, handSize }: { queues: number; handSize: number }): readonly number[] {
    return dealHand(flowHash('schema', this.flow), queues, handSize)
  }

  decided(decision: Decision): void {
    this.decision = decision
  }
}

function queueSet(seats: number, limitation: Limitation = { queues: 64, handSize: 1, queueLengthLimit: 50 }) {
  const clock = new FakeClock()
  const demands: number[] = []
  const set = new QueueSet({ clock, limitation, seats, demand: (wanted) => demands.push(wanted) })
  return { clock, set, demands }
}

test('a request executes, waits or is rejected depending on free seats and its queue', () => {
  const { set } = queueSet(2, { queues: 1, handSize: 1, queueLengthLimit: 1 })
  const requests = Array.from({ length: 4 }, () => new TestRequest('a'))
  assert.deepEqual(
    requests.map((request) => set.start(request)),
    ['execute', 'execute', 'wait', 'queue-full'],
  )
  set.finish(requests[0]!)
  assert.equal(requests[2]!.decision, 'execute')
  assert.deepEqual([set.executing, set.waiting, set.seatsInUse], [2, 0, 2])
  for (const request of requests.slice(1, 3)) set.finish(request)
  assert.ok(set.idle)
})

test('a level without queues rejects requests that find no seats; an exempt one never does', () => {
  const { set } = queueSet(1, 'reject')
  assert.deepEqual([set.start(new TestRequest('a')), set.start(new TestRequest('a'))], ['execute', 'concurrency-limit'])
  const exempt = queueSet(0, 'exempt').set
  assert.deepEqual([exempt.start(new TestRequest('a')), exempt.start(new TestRequest('a'))], ['execute', 'execute'])
  assert.equal(exempt.seatsInUse, 2)
})

/**
 * Serves 2,000 steps: `perStep` new requests of each flow per step, each of which takes ten steps. Returns the number
 * of served requests of each flow.
 */
function serve(
  flows: Readonly<Record<string, number>>,
  seats: number,
  limitation?: Limitation,
): Record<string, number> {
  const { set, clock } = queueSet(seats, limitation)
  const served: Record<string, number> = {}
  const waiting = new Set<TestRequest>()
  let executing: { request: TestRequest; until: number }[] = []
  for (let step = 0; step < 2000; step++) {
    clock.advance(1)
    for (const { request } of executing.filter(({ until }) => until <= step)) set.finish(request)
    executing = executing.filter(({ until }) => until > step)
    for (const [flow, perStep] of Object.entries(flows)) {
      for (let i = 0; i < perStep; i++) {
        const request = new TestRequest(flow)
        const state = set.start(request)
        if (state === 'execute' || state === 'wait') waiting.add(request)
      }
    }
    for (const request of waiting) {
      if (!request.executes) continue
      waiting.delete(request)
      executing.push({ request, until: step + 10 })
      served[request.flow] = (served[request.flow] ?? 0) + 1
    }
  }
  return served
}

test('a flow that floods does not starve another: both get the same share', () => {
  const served = serve({ flood: 20, modest: 1 }, 4)
  const share = served.modest! / (served.modest! + served.flood!)
  assert.ok(share > 0.4 && share < 0.6, `${share}`)
})

test('flows with equal demand get similar shares, even if their hands share queues', () => {
  const served = Object.values(serve({ a: 2, b: 2, c: 2, d: 2 }, 4, { queues: 64, handSize: 4, queueLengthLimit: 20 }))
  assert.ok(Math.min(...served) / Math.max(...served) > 0.5, `${served}`)
})

test('a queue is charged for requests that take longer than estimated', () => {
  const { set, clock } = queueSet(1)
  const [slow, quick] = [new TestRequest('slow'), new TestRequest('brief')]
  assert.equal(set.start(slow), 'execute')
  assert.equal(set.start(new TestRequest('slow')), 'wait')
  clock.advance(100)
  assert.equal(set.start(quick), 'wait')
  set.finish(slow)
  assert.equal(quick.decision, 'execute')
})

test('a wide request takes all of its seats together, and one wider than its level runs alone', () => {
  const { set } = queueSet(3)
  const [narrow, wide, wider] = [new TestRequest('a'), new TestRequest('b', 3), new TestRequest('c', 10)]
  assert.equal(set.start(narrow), 'execute')
  assert.equal(set.start(wide), 'wait')
  set.finish(narrow)
  assert.equal(wide.decision, 'execute')
  assert.equal(set.start(wider), 'wait')
  set.finish(wide)
  assert.equal(wider.decision, 'execute')
  assert.equal(set.start(new TestRequest('a')), 'wait')
})

test('a request wider than its level waits until nothing executes, but not for lingering seats of a write', () => {
  const { set } = queueSet(3)
  const [write, wider] = [new TestRequest('a', 1, 5), new TestRequest('b', 10)]
  set.start(write)
  assert.equal(set.start(wider), 'wait')
  assert.equal(wider.vainTurns, 1)
  set.finish(write)
  assert.equal(wider.decision, 'execute')
  assert.equal(set.seatsInUse, 11)
})

test('the final seats of a write are limited to its level, and linger longer in return', () => {
  const { set, clock } = queueSet(2)
  const [write, next] = [new TestRequest('a', 1, 5, 4), new TestRequest('b')]
  assert.equal(set.start(write), 'execute')
  assert.deepEqual([write.seats, write.lingerMs, set.seatsInUse], [2, 10, 2])
  assert.equal(set.start(next), 'wait')
  set.finish(write)
  clock.advance(9)
  assert.equal(next.decision, undefined)
  clock.advance(1)
  assert.equal(next.decision, 'execute')
})

test('a request that found too few free seats at its turn is still the next one', () => {
  const { set } = queueSet(3)
  const inQueue = (index: number, seats: number): TestRequest =>
    Object.assign(new TestRequest(`${index}`, seats), { hand: () => [index] })
  const [running, first, second, third] = [inQueue(0, 1), inQueue(1, 3), inQueue(2, 3), inQueue(2, 3)]
  for (const request of [running, first, second, third]) set.start(request)
  assert.deepEqual([first.vainTurns, second.vainTurns], [3, 0])
  set.finish(running)
  assert.deepEqual([first.decision, second.decision], ['execute', undefined])
})

test('a queue does not grow beyond its limit behind a waiting wide request', () => {
  const { set } = queueSet(3, { queues: 1, handSize: 1, queueLengthLimit: 2 })
  set.start(new TestRequest('a', 2))
  assert.deepEqual(
    [3, 1, 1].map((seats) => set.start(new TestRequest('a', seats))),
    ['wait', 'wait', 'queue-full'],
  )
  assert.equal(set.waiting, 2)
})

test('seats stay occupied for the events that a write causes', () => {
  const { set, clock } = queueSet(1)
  const [write, next] = [new TestRequest('a', 1, 5), new TestRequest('b')]
  set.start(write)
  set.start(next)
  set.finish(write)
  assert.equal(next.decision, undefined)
  assert.equal(set.idle, false)
  clock.advance(5)
  assert.equal(next.decision, 'execute')
})

test('seats that linger for a shorter time are freed before those of earlier requests', () => {
  const { set, clock } = queueSet(2)
  const [long, short, next] = [new TestRequest('a', 1, 50), new TestRequest('b', 1, 5), new TestRequest('c')]
  for (const request of [long, short, next]) set.start(request)
  set.finish(long)
  set.finish(short)
  clock.advance(5)
  assert.equal(next.decision, 'execute')
  assert.equal(set.seatsInUse, 2)
  clock.advance(45)
  assert.equal(set.seatsInUse, 1)
})

test('a request that waits too long times out, and one that is cancelled leaves its queue', () => {
  const { set, clock } = queueSet(1)
  const running = new TestRequest('a')
  const [old, cancelled, young] = [new TestRequest('b'), new TestRequest('c'), new TestRequest('d')]
  set.start(running)
  set.start(old)
  set.start(cancelled)
  assert.equal(set.cancel(cancelled), true)
  assert.equal(set.cancel(cancelled), false)
  clock.advance(10_000)
  set.start(young)
  clock.advance(6000)
  assert.deepEqual([old.decision, young.decision, set.waiting], ['time-out', undefined, 1])
  set.finish(running)
  assert.equal(young.decision, 'execute')
  assert.equal(set.cancel(young), false)
})

test('a request with a shorter wait limit does not wait for those before it', () => {
  const { set, clock } = queueSet(1)
  set.start(new TestRequest('a'))
  const [patient, hurried] = [new TestRequest('b'), new TestRequest('b')]
  hurried.waitLimitMs = 1000
  set.start(patient)
  set.start(hurried)
  clock.advance(1500)
  assert.deepEqual([patient.decision, hurried.decision], [undefined, 'time-out'])
})

test('waiting requests stay in their queues on a configuration change, and continue with more seats', () => {
  const { set } = queueSet(1)
  set.start(new TestRequest('a'))
  const waiting = [new TestRequest('b'), new TestRequest('c')]
  for (const request of waiting) set.start(request)
  set.configure({ queues: 2, handSize: 1, queueLengthLimit: 5 }, 2)
  set.configure('reject', 3)
  assert.deepEqual(
    waiting.map(({ decision }) => decision),
    ['execute', 'execute'],
  )
})

test('the demand is the number of seats in use and waited for', () => {
  const { set, demands } = queueSet(2)
  const requests = [new TestRequest('a'), new TestRequest('b', 2)]
  for (const request of requests) set.start(request)
  assert.equal(demands.at(-1), 3)
  set.finish(requests[0]!)
  set.finish(requests[1]!)
  assert.equal(demands.at(-1), 0)
})
