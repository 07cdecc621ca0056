import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { digestOf } from '../../formats/digest.ts'
import { mediaTypes } from '../../formats/media-types.ts'
import { ImageStore } from '../../store/image-store.ts'
import { type FakeRegistry, fakeRegistry } from '../registry.fixture.ts'
import type { BlobProgress } from './download-blob.ts'
import { ImagePuller, type PullerOptions } from './image-puller.ts'

const platform = { os: 'linux', architecture: 'amd64' }

function newPuller(t: TestContext, options: Partial<PullerOptions> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 't8s-pull-'))
  const store = new ImageStore(folder)
  const puller = new ImagePuller({ store, retries: { firstPauseMs: 1 }, ...options })
  t.after(() => {
    puller.close()
    rmSync(folder, { recursive: true })
  })
  return { store, puller }
}

const blobRequests = ({ requests }: FakeRegistry): string[] =>
  requests.filter(({ url }) => url.includes('/blobs/')).map(({ headers }) => headers.range ?? 'all')

test('a pulled image has its names, layers and defaults', async (t) => {
  const registry = await fakeRegistry(t)
  const digest = registry.addImage('1', [Buffer.from('lower'), Buffer.from('upper')])
  const { store, puller } = newPuller(t)
  const progress: BlobProgress[] = []
  const image = await puller.pull(`${registry.host}/web:1`, { platform, onProgress: (one) => progress.push(one) })
  assert.deepEqual(image.tags, [`${registry.host}/web:1`])
  assert.deepEqual(image.digests, [`${registry.host}/web@${digest}`])
  assert.equal(image.config.defaults.User, '7')
  assert.deepEqual(
    image.layers.map(({ diffId }) => diffId),
    [digestOf('lower'), digestOf('upper')],
  )
  assert.equal(image.layers[1]?.chainId, digestOf(`${digestOf('lower')} ${digestOf('upper')}`))
  assert.equal(progress.filter(({ isDone }) => isDone).length, 3)
  assert.deepEqual(
    store.list().map(({ id }) => id),
    [image.id],
  )
  assert.equal((await store.collectGarbage()).blobs, 0)
  assert.deepEqual(readdirSync(store.paths.leases), [])
})

test('present layers are not downloaded again', async (t) => {
  const registry = await fakeRegistry(t)
  registry.addImage('1', [Buffer.from('lower'), Buffer.from('one')])
  registry.addImage('2', [Buffer.from('lower'), Buffer.from('two')])
  const { puller } = newPuller(t)
  await puller.pull(`${registry.host}/web:1`, { platform })
  registry.requests.length = 0
  await Promise.all([1, 2, 3].map(() => puller.pull(`${registry.host}/web:2`, { platform })))
  // The configuration and one layer.
  assert.equal(blobRequests(registry).length, 2)
})

test('the manifest of an index is that of the platform', async (t) => {
  const registry = await fakeRegistry(t)
  const variants: Record<string, string>[] = [
    { os: 'linux', architecture: 'arm', variant: 'v6' },
    { os: 'linux', architecture: 'arm', variant: 'v7' },
    { os: 'linux', architecture: 'amd64' },
    { os: 'unknown', architecture: 'unknown' },
  ]
  const manifests = variants.map((variant) => {
    const digest = registry.addImage(JSON.stringify(variant), [Buffer.from(JSON.stringify(variant))], variant)
    const size = registry.manifests.get(digest)!.bytes.length
    return { mediaType: mediaTypes.dockerManifest, digest, size, platform: variant }
  })
  const document = { schemaVersion: 2, mediaType: mediaTypes.dockerIndex, manifests }
  const target = registry.put('1', mediaTypes.dockerIndex, document)
  const { puller } = newPuller(t)
  const pull = async (...[architecture = '', variant]: readonly string[]) => {
    const wanted = { os: 'linux', architecture, ...(variant && { variant }) }
    return (await puller.pull(`${registry.host}/web:1`, { platform: wanted })).config.platform
  }
  assert.deepEqual(await pull('amd64'), { os: 'linux', architecture: 'amd64' })
  assert.deepEqual(await pull('arm'), { os: 'linux', architecture: 'arm', variant: 'v7' })
  assert.deepEqual(await pull('arm', 'v6'), { os: 'linux', architecture: 'arm', variant: 'v6' })
  await assert.rejects(pull('s390x'), { code: 'NotFound', message: /no match for platform in manifest: linux\/s390x/ })
  const byDigest = await puller.pull(`${registry.host}/web:1@${target}`, { platform })
  assert.deepEqual(byDigest.digests, [`${registry.host}/web@${target}`])
})

test('a broken download is resumed, and a failing registry is asked again', async (t) => {
  const registry = await fakeRegistry(t)
  registry.addImage('1', [randomBytes(200_000)])
  const failures = [503, 429]
  let broken = 0
  registry.intercept = ({ url = '', headers }, response) => {
    const status = url.includes('/manifests/') ? failures.pop() : undefined
    if (status) {
      response.writeHead(status, { 'retry-after': '0' }).end()
      return true
    }
    const bytes = registry.blobs.get(url.split('/').at(-1)!)
    if (!bytes || bytes.length < 100_000 || headers.range || broken++ > 0) return false
    response
      .writeHead(200, { 'content-length': bytes.length })
      .write(bytes.subarray(0, 60_000), () => response.destroy())
    return true
  }
  const { puller } = newPuller(t)
  await puller.pull(`${registry.host}/web:1`, { platform })
  assert.deepEqual(failures, [])
  const [, , resumed] = blobRequests(registry)
  assert.match(resumed ?? '', /^bytes=[1-9]\d*-$/)
})

test('a registry that cannot resume sends everything again', async (t) => {
  const registry = await fakeRegistry(t)
  registry.addImage('1', [randomBytes(200_000)])
  let broken = 0
  registry.intercept = ({ url = '' }, response) => {
    const bytes = registry.blobs.get(url.split('/').at(-1)!)
    if (!bytes || bytes.length < 100_000) return false
    response.writeHead(200, { 'content-length': bytes.length })
    if (broken++ > 0) response.end(bytes)
    else response.write(bytes.subarray(0, 60_000), () => response.destroy())
    return true
  }
  await newPuller(t).puller.pull(`${registry.host}/web:1`, { platform })
})

test('a missing image and a missing registry have the errors of containerd', async (t) => {
  const registry = await fakeRegistry(t)
  const { store, puller } = newPuller(t, { retries: { attempts: 1 } })
  const name = `${registry.host}/web:1`
  await assert.rejects(puller.pull(name), {
    code: 'NotFound',
    message: `failed to pull and unpack image "${name}": failed to resolve reference "${name}": ${name}: not found`,
  })
  await assert.rejects(puller.pull('127.0.0.1:1/web'), {
    code: 'Unavailable',
    message: /failed to do request: Get "http:\/\/127\.0\.0\.1:1\/v2\/web\/manifests\/latest": connect ECONNREFUSED/,
  })
  await assert.rejects(puller.pull('Not/Valid'), { code: 'InvalidArgument' })
  assert.deepEqual(store.list(), [])
})

test('a canceled pull rejects, and the next one continues it', async (t) => {
  const registry = await fakeRegistry(t)
  registry.addImage('1', [randomBytes(200_000)])
  const canceled = new AbortController()
  registry.intercept = ({ url = '', headers }, response) => {
    const bytes = registry.blobs.get(url.split('/').at(-1)!)
    if (!bytes || bytes.length < 100_000 || headers.range) return false
    response.writeHead(200, { 'content-length': bytes.length }).write(bytes.subarray(0, 60_000))
    return true
  }
  const { puller } = newPuller(t)
  const pull = puller.pull(`${registry.host}/web:1`, {
    platform,
    signal: canceled.signal,
    onProgress: ({ received, size }) => size > 100_000 && received >= 60_000 && canceled.abort(),
  })
  await assert.rejects(pull, { code: 'Canceled' })
  await puller.pull(`${registry.host}/web:1`, { platform })
  assert.match(blobRequests(registry).at(-1)!, /^bytes=60000-$/)
})

test('a mirror answers for its registry, and the registry for what the mirror lacks', async (t) => {
  const [mirror, registry] = [await fakeRegistry(t), await fakeRegistry(t)]
  mirror.addImage('1', [Buffer.from('mirrored')])
  registry.addImage('2', [Buffer.from('original')])
  const { puller } = newPuller(t, {
    mirrors: { [registry.host]: ['http://127.0.0.1:1', `http://${mirror.host}/`] },
    retries: { attempts: 1 },
  })
  const login = { username: 'me', password: 'secret' }
  await puller.pull(`${registry.host}/team/web:1`, { platform, login })
  assert.deepEqual(registry.requests, [])
  assert.match(
    mirror.requests[0]!.url,
    new RegExp(`/v2/team/web/manifests/1\\?ns=${encodeURIComponent(registry.host)}$`),
  )
  await puller.pull(`${registry.host}/team/web:2`, { platform, login })
  assert.ok(mirror.requests.every(({ headers }) => headers.authorization === undefined))
})
