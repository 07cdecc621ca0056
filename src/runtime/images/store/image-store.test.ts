import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { digestOf } from '../formats/digest.ts'
import { decodeImageConfig } from '../formats/image-config.ts'
import { mediaTypes } from '../formats/media-types.ts'
import { ImageStore, type NewImage } from './image-store.ts'

function newStore(t: TestContext): ImageStore {
  const folder = mkdtempSync(join(tmpdir(), 't8s-images-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  return new ImageStore(folder)
}

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))

/** Stores the blobs of an image with one layer. */
async function blobsOf(store: ImageStore, layer: string, text: string): Promise<Omit<NewImage, 'names'>> {
  const layerBytes = Buffer.from(layer)
  const diffId = digestOf(layerBytes)
  const config = json({
    os: 'linux',
    architecture: 'amd64',
    created: text,
    rootfs: { type: 'layers', diff_ids: [diffId] },
  })
  const descriptor = (mediaType: string, bytes: Buffer) => ({ mediaType, digest: digestOf(bytes), size: bytes.length })
  const manifest = json({
    schemaVersion: 2,
    mediaType: mediaTypes.manifest,
    config: descriptor(mediaTypes.config, config),
    layers: [descriptor(mediaTypes.layer, layerBytes)],
  })
  for (const blob of [layerBytes, config, manifest]) await store.blobs.put(blob)
  const layers = [{ ...descriptor(mediaTypes.layer, layerBytes), diffId, chainId: diffId }]
  const record = { manifest: digestOf(manifest), layers, size: layerBytes.length, config: decodeImageConfig(config) }
  return { id: digestOf(config), record, target: digestOf(manifest) }
}

test('an image is found by name, digest, ID and the first digits of its ID', async (t) => {
  const store = newStore(t)
  const image = await blobsOf(store, 'files', 'one')
  const name = `docker.io/library/web@${image.target}`
  await store.add({ ...image, names: ['docker.io/library/web:latest', name] })
  for (const reference of [
    'web',
    'docker.io/library/web:latest',
    `web@${image.target}`,
    image.id,
    image.id.slice(7, 19),
  ])
    assert.equal(store.find(reference)?.id, image.id, reference)
  assert.deepEqual(store.get('web').tags, ['docker.io/library/web:latest'])
  assert.deepEqual(store.get('web').digests, [name])
  assert.equal(store.find('web:2'), undefined)
  assert.throws(() => store.get('web:2'), { code: 'NotFound', message: 'web:2: not found' })
  assert.throws(() => store.find('Web'), { code: 'InvalidArgument' })
})

test('a name that moves leaves the old image with its digest', async (t) => {
  const store = newStore(t)
  const [old, next] = [await blobsOf(store, 'files', 'one'), await blobsOf(store, 'files', 'two')]
  const digestName = `docker.io/library/web@${old.target}`
  await store.add({ ...old, names: ['docker.io/library/web:latest', digestName] })
  await store.add({ ...next, names: ['docker.io/library/web:latest'] })
  assert.equal(store.get('web').id, next.id)
  assert.deepEqual([store.get(old.id).tags, store.get(old.id).digests], [[], [digestName]])
})

test('removing an image keeps the blobs that another one shares', async (t) => {
  const store = newStore(t)
  const [one, two] = [await blobsOf(store, 'shared', 'one'), await blobsOf(store, 'shared', 'two')]
  await store.add({ ...one, names: ['docker.io/library/one:latest'] })
  await store.add({ ...two, names: ['docker.io/library/two:latest'] })
  assert.equal((await store.remove('one')).blobs, 2)
  assert.ok(store.blobs.has(digestOf('shared')))
  assert.ok(!store.blobs.has(one.id))
  assert.equal((await store.remove('two')).blobs, 3)
  assert.deepEqual(store.list(), [])
  await store.remove('two')
})

test('the last tag takes the image with it', async (t) => {
  const store = newStore(t)
  const image = await blobsOf(store, 'files', 'one')
  await store.add({ ...image, names: ['docker.io/library/web:1', `docker.io/library/web@${image.target}`] })
  await store.tag('web:1', 'localhost:5000/web:2')
  await store.untag('web:1')
  assert.deepEqual(store.get(image.id).tags, ['localhost:5000/web:2'])
  await store.untag('localhost:5000/web:2')
  assert.deepEqual(store.list(), [])
  await assert.rejects(store.untag('web:1'), { code: 'NotFound' })
})

test('a lease protects blobs from collection until it is released', async (t) => {
  const store = newStore(t)
  const lease = store.lease()
  await lease.add([digestOf('early')])
  await store.blobs.put(Buffer.from('early'))
  assert.equal((await store.collectGarbage()).blobs, 0)
  lease.release()
  assert.deepEqual(await store.collectGarbage(), { blobs: 1, bytes: 5, layers: 0 })
})

test('the lease of an ended process protects nothing', async (t) => {
  const store = newStore(t)
  await store.lease().add([digestOf('early')])
  await store.blobs.put(Buffer.from('early'))
  const { leases } = store.paths
  const [own] = (await import('node:fs')).readdirSync(leases)
  // The process with this number has started at another time.
  writeFileSync(join(leases, own!.replace(/-\d+-/, '-1-')), `${digestOf('early')}\n`)
  rmSync(join(leases, own!))
  assert.equal((await store.collectGarbage()).blobs, 1)
})

test('another store on the same folder sees changes', async (t) => {
  const store = newStore(t)
  const other = new ImageStore(store.paths.root)
  assert.deepEqual(other.list(), [])
  const image = await blobsOf(store, 'files', 'one')
  await Promise.all(
    Array.from({ length: 10 }, (_, i) =>
      (i % 2 ? store : other).add({ ...image, names: [`docker.io/library/web:${i}`] }),
    ),
  )
  assert.equal(other.get(image.id).tags.length, 10)
  await other.pin('web:1')
  assert.equal(store.get('web:1').isPinned, true)
})

test('content with another digest or size is rejected and forgotten', async (t) => {
  const { blobs } = newStore(t)
  const wrong = await blobs.ingest(digestOf('right'), 5)
  wrong.write(Buffer.from('wrong'))
  assert.throws(() => wrong.commit(), { code: 'FailedPrecondition', message: /unexpected commit digest .*, expected/ })
  const long = await blobs.ingest(digestOf('right'), 3)
  assert.throws(() => long.write(Buffer.from('right')), /is longer than the 3 bytes of its descriptor/)
  const short = await blobs.ingest(digestOf('right'), 6)
  short.write(Buffer.from('right'))
  assert.throws(() => short.commit(), /has 5 bytes: its descriptor states 6/)
  assert.equal((await blobs.ingest(digestOf('right'), 5)).offset, 0)
  assert.ok(!blobs.has(digestOf('right')))
})

test('a download continues where an earlier one has ended', async (t) => {
  const { blobs } = newStore(t)
  const first = await blobs.ingest(digestOf('complete'), 8)
  first.write(Buffer.from('comp'))
  const parallel = await blobs.ingest(digestOf('complete'), 8)
  assert.equal(parallel.offset, 0)
  parallel.suspend()
  first.suspend()
  const second = await blobs.ingest(digestOf('complete'), 8)
  assert.equal(second.offset, 4)
  second.write(Buffer.from('lete'))
  second.commit()
  assert.equal(blobs.read(digestOf('complete'), 100).toString(), 'complete')
})

test('a damaged blob is an error with its path', async (t) => {
  const { blobs } = newStore(t)
  const digest = await blobs.put(Buffer.from('right'))
  writeFileSync(blobs.path(digest), 'wrong')
  assert.throws(() => blobs.read(digest, 100), /is damaged: remove and pull its image/)
  assert.throws(() => blobs.read(digestOf('missing'), 100), { code: 'NotFound' })
})

test('the usage counts blobs', async (t) => {
  const store = newStore(t)
  const before = await store.usage()
  await store.blobs.put(Buffer.alloc(10_000, 1))
  const after = await store.usage()
  assert.ok(after.bytes - before.bytes >= 10_000)
  assert.equal(after.inodes - before.inodes, 1)
  assert.ok(existsSync(store.paths.blobs))
})
