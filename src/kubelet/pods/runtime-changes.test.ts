import assert from 'node:assert/strict'
import { test } from 'node:test'
import { create } from '@bufbuild/protobuf'
import {
  type ContainerEventResponse,
  ContainerEventResponseSchema,
  ContainerSchema,
  ContainerState,
} from '#protobuf/cri-runtime_pb.js'
import { VirtualTime } from './model/virtual-time.fixture.ts'
import { RuntimeChanges } from './runtime-changes.ts'

const labels = {
  'io.kubernetes.pod.uid': 'u',
  'io.kubernetes.pod.name': 'web',
  'io.kubernetes.pod.namespace': 'default',
}

/** A runtime with one container, whose events a test sends and ends. */
class EventfulRuntime {
  state: ContainerState = ContainerState.CONTAINER_RUNNING
  lists = 0
  /** The times in ms at which it was asked for events. */
  readonly asked: number[] = []
  /** The code of the error that requests for events get; undefined: they stay open. */
  failure: string | undefined
  isAway = false
  #streams: { readonly next: PromiseWithResolvers<ContainerEventResponse> }[] = []
  readonly #time: VirtualTime

  constructor(time: VirtualTime) {
    this.#time = time
  }

  containers = async () => {
    if (this.isAway) throw new Error('connection refused')
    this.lists++
    return [create(ContainerSchema, { id: 'c', state: this.state, labels })]
  }

  sandboxes = async () => []

  async *events(): AsyncGenerator<ContainerEventResponse> {
    this.asked.push(this.#time.now() - start)
    if (this.isAway || this.failure)
      throw Object.assign(new Error('no events'), { code: this.failure ?? 'Unavailable' })
    const stream = { next: Promise.withResolvers<ContainerEventResponse>() }
    this.#streams.push(stream)
    for (;;) {
      const event = await stream.next.promise
      stream.next = Promise.withResolvers()
      yield event
    }
  }

  send(): void {
    const event = create(ContainerEventResponseSchema, { podSandboxStatus: { id: 's', labels } })
    for (const { next } of this.#streams) next.resolve(event)
  }

  /** Ends all streams, as when the runtime stops. */
  end(): void {
    for (const { next } of this.#streams.splice(0))
      next.reject(Object.assign(new Error('connection lost'), { code: 'Unavailable' }))
  }
}

const start = new VirtualTime().now()

async function setUp(prepare: (runtime: EventfulRuntime) => void = () => {}) {
  const time = new VirtualTime()
  const runtime = new EventfulRuntime(time)
  prepare(runtime)
  const changed: number[] = []
  const record = (): void => void changed.push(time.now() - start)
  const changes = new RuntimeChanges({
    runtime,
    log: () => {},
    now: time.now,
    schedule: time.schedule,
    changed: record,
    differs: record,
  })
  await changes.start()
  return { time, runtime, changed, changes }
}

test('comparisons are rare while the runtime sends events', async () => {
  const { time, runtime, changed } = await setUp()
  await time.pass(5_000)
  assert.equal(runtime.lists, 6)
  runtime.send()
  await time.pass(60_000)
  assert.equal(runtime.lists, 7)
  assert.equal(changed.length, 2)
})

test('when events end, the runtime is compared immediately and then often, and asked for events again', async () => {
  const { time, runtime, changed } = await setUp()
  runtime.send()
  await time.pass(10_000)
  const lists = runtime.lists
  runtime.state = ContainerState.CONTAINER_EXITED
  runtime.failure = 'Unavailable'
  runtime.end()
  await time.pass(100)
  assert.equal(runtime.lists, lists + 1)
  assert.equal(changed.at(-1), 10_000)
  await time.pass(14_900)
  assert.equal(runtime.lists, lists + 16)
  assert.deepEqual(runtime.asked, [0, 11_000, 13_000, 17_000, 25_000])
  runtime.failure = undefined
  await time.pass(16_000)
  assert.equal(runtime.asked.at(-1), 41_000)
  runtime.send()
  await time.pass(2_000)
  const after = runtime.lists
  await time.pass(60_000)
  assert.equal(runtime.lists, after)
  runtime.end()
  await time.pass(1_000)
  assert.equal(runtime.asked.length, 7)
})

test('the delay between requests for events is a minute at most', async () => {
  const { time, runtime } = await setUp((fresh) => (fresh.failure = 'Unavailable'))
  await time.pass(250_000)
  const delays = runtime.asked.slice(1).map((at, i) => at - runtime.asked[i]!)
  assert.deepEqual(delays, [1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000, 60_000, 60_000])
})

test('a runtime that knows no events is asked again only after it was away', async () => {
  const { time, runtime, changes } = await setUp((fresh) => (fresh.failure = 'Unimplemented'))
  await time.pass(100_000)
  assert.deepEqual(runtime.asked, [0])
  assert.equal(runtime.lists, 101)
  runtime.isAway = true
  await time.pass(10_000)
  runtime.isAway = false
  runtime.failure = undefined
  await time.pass(2_000)
  assert.equal(runtime.asked.length, 2)
  runtime.send()
  await time.pass(2_000)
  const lists = runtime.lists
  await time.pass(60_000)
  assert.equal(runtime.lists, lists)
  changes.stop()
  runtime.end()
  await time.pass(60_000)
  assert.equal(runtime.asked.length, 2)
})
