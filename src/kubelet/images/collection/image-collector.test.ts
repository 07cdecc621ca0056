import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Image } from '#protobuf/cri-images_pb.js'
import type { Container } from '#protobuf/cri-runtime_pb.js'
import { CollectionLoop } from './collection-loop.ts'
import { bytesToFree, formatSize } from './eviction-order.ts'
import { type CollectorPolicy, defaultCollectorPolicy, ImageCollector } from './image-collector.ts'
import { nodeImages } from './node-images.ts'

const imageOf = (id: string, size = 10, more: Partial<Image> = {}): Image =>
  ({ id, size: BigInt(size), repoTags: [`registry.test/${id}:1`], repoDigests: [], pinned: false, ...more }) as Image

for (const [available, high, expected] of [
  [16, 85, 0],
  [15, 85, 5],
  [0, 85, 20],
  [0, 100, 20],
  [200, 85, 0],
] as const)
  test(`with ${available} of 100 bytes free, ${expected} bytes are freed from ${high} %`, () => {
    assert.equal(bytesToFree({ capacity: 100, available }, { highPercent: high, lowPercent: 80 }), expected)
  })

test('sizes are written with binary units', () => {
  assert.deepEqual([512, 1536, 26.4 * 2 ** 30].map(formatSize), ['512 B', '1.5 KiB', '26.4 GiB'])
})

function collectorOf(policy: Partial<CollectorPolicy> = {}) {
  let now = 1_000_000
  const state = {
    images: [] as Image[],
    used: [] as string[],
    available: 100,
    capacity: 100,
    broken: new Set<string>(),
    removed: [] as string[],
    events: [] as string[],
    remaining: [] as string[],
    /** How long a list of images takes. */
    listingMs: 0,
  }
  const collector = new ImageCollector({
    images: {
      async all() {
        now += state.listingMs
        return [...state.images]
      },
      async remove(id) {
        if (state.broken.has(id)) throw new Error(`cannot remove ${id}`)
        state.removed.push(id)
        state.images = state.images.filter((image) => image.id !== id)
      },
    },
    runtime: { containers: async () => state.used.map((imageRef) => ({ imageRef, imageId: '' }) as Container) },
    policy: { ...defaultCollectorPolicy, ...policy },
    sandboxImage: 'registry.test/pause:1',
    now: () => now,
    log: () => {},
    disk: async () => ({ capacity: state.capacity, available: state.available }),
    record: (reason, message) => void state.events.push(`${reason} ${message}`),
    onCollected: (refs) => void (state.remaining = [...refs]),
    countRemoved: () => {},
  })
  return { collector, state, pass: (seconds: number) => void (now += seconds * 1000) }
}

test('a full disk loses its least recently used images, except used, pinned, young and sandbox images', async () => {
  const { collector, state, pass } = collectorOf()
  state.images = [imageOf('never'), imageOf('earlier'), imageOf('later'), imageOf('used'), imageOf('pause')]
  state.images.push(imageOf('pinned', 10, { pinned: true }))
  state.used = ['earlier', 'later', 'used']
  await collector.collect()
  pass(200)
  state.used = ['later', 'used']
  await collector.detect()
  pass(200)
  state.used = ['used']
  state.images.push(imageOf('young'))
  await collector.detect()
  state.available = 5
  await collector.collect()
  assert.deepEqual(state.removed, ['never', 'earlier'])
  assert.deepEqual(state.remaining, ['later', 'used', 'pause', 'pinned', 'young'])
  await collector.removeUnused()
  assert.deepEqual(state.removed, ['never', 'earlier', 'later'])
})

test('a container holds its image by name or ID', async () => {
  const { collector, state, pass } = collectorOf()
  state.images = [imageOf('a'), imageOf('b')]
  state.used = ['a', 'registry.test/b:1']
  await collector.detect()
  pass(1000)
  await collector.removeUnused()
  assert.deepEqual(state.removed, [])
})

test('a collection that frees too little is an error with an event', async () => {
  const { collector, state, pass } = collectorOf()
  state.images = [imageOf('a', 3)]
  await collector.collect()
  pass(1000)
  state.available = 10
  const message =
    "Insufficient free disk space on the node's image filesystem (90% of 100 B used). " +
    'Failed to free sufficient space by deleting unused images (freed 3 bytes). ' +
    'Investigate disk usage, as it could be used by active images, logs, volumes, or other data.'
  await assert.rejects(collector.collect(), { message })
  assert.deepEqual(state.events, [`FreeDiskSpaceFailed ${message}`])
})

test('an image that cannot be removed does not hold up the others', async () => {
  const { collector, state, pass } = collectorOf()
  state.images = [imageOf('a'), imageOf('b')]
  state.broken.add('a')
  await collector.collect()
  pass(1000)
  state.available = 15
  await assert.rejects(collector.collect(), {
    message: 'wanted to free 5 bytes, but freed 10 bytes space with errors in image deletion: cannot remove a',
  })
  assert.deepEqual(state.removed, ['b'])
})

test('a disk without capacity is an error with an event', async () => {
  const { collector, state } = collectorOf()
  state.capacity = 0
  await assert.rejects(collector.collect(), { message: 'invalid capacity 0 on image filesystem' })
  assert.deepEqual(state.events, ['InvalidDiskCapacity invalid capacity 0 on image filesystem'])
})

test('images are removed when they were not used for the maximum age', async () => {
  const { collector, state, pass } = collectorOf({ maxAgeMs: 3600_000 })
  state.images = [imageOf('old'), imageOf('used')]
  state.used = ['used']
  await collector.collect()
  pass(3600)
  await collector.collect()
  assert.deepEqual(state.removed, [])
  pass(1)
  state.images.push(imageOf('new'))
  await collector.collect()
  assert.deepEqual(state.removed, ['old'])
})

test('thresholds must be percents in order', () => {
  assert.throws(() => collectorOf({ highPercent: 101 }), {
    message: 'invalid HighThresholdPercent 101, must be in range [0-100]',
  })
  assert.throws(() => collectorOf({ highPercent: 70 }), {
    message: 'LowThresholdPercent 80 can not be higher than HighThresholdPercent 70',
  })
})

test('only a second failure in a row is an event', async () => {
  const events: string[] = []
  const timers: (() => void)[] = []
  const loop = new CollectionLoop({
    collector: { isDisabled: false, collect: () => Promise.reject(new Error('full')), detect: async () => [] },
    log: () => {},
    record: (reason, message) => void events.push(`${reason} ${message}`),
    schedule(callback, ms) {
      assert.equal(ms, 300_000)
      timers.push(callback)
      return () => {}
    },
  })
  loop.start()
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(events, [])
  timers[0]!()
  await new Promise((resolve) => setImmediate(resolve))
  assert.deepEqual(events, ['ImageGCFailed full'])
  loop.stop()
})

test("a node's status has its 50 largest images, with five names each", () => {
  const images = Array.from({ length: 60 }, (_, i) => imageOf(`i${i}`, i))
  const names = ['c', 'b', 'a'].map((name) => `registry.test/${name}:1`)
  images.push(imageOf('big', 100, { repoTags: names, repoDigests: ['z@sha256:2', 'z@sha256:1', 'y@sha256:3'] }))
  const listed = nodeImages(images)
  assert.equal(listed.length, 50)
  assert.deepEqual(listed[0], {
    names: ['y@sha256:3', 'z@sha256:1', 'z@sha256:2', 'registry.test/a:1', 'registry.test/b:1'],
    sizeBytes: 100,
  })
  assert.deepEqual(listed[1]?.sizeBytes, 59)
  assert.equal(nodeImages(images, -1).length, 61)
})

for (const run of ['collect', 'removeUnused'] as const)
  test(`without a minimum age, ${run} removes images that it sees for the first time`, async () => {
    const { collector, state } = collectorOf({ minAgeMs: 0 })
    Object.assign(state, { images: [imageOf('new')], available: 0, capacity: 10, listingMs: 5 })
    await collector[run]()
    assert.deepEqual(state.removed, ['new'])
  })
