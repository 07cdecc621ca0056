/** The image store beside other programs: skopeo, umoci, Docker's registry and containerd. */
import assert from 'node:assert/strict'
import { execFile, execFileSync, spawn, spawnSync } from 'node:child_process'
import { createWriteStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import {
  exportArchive,
  ImagePuller,
  ImagePusher,
  ImageStore,
  importArchive,
  LayeredSnapshots,
  serveImages,
} from '../../../src/runtime/images/index.ts'
import { layerOf, writeFiles, writeImage } from '../../kubelet/support/oci-image.ts'
import { startContainerd } from '../../kubelet/support/runtimes/containerd.ts'

const isRoot = process.geteuid?.() === 0
const missing = (...programs: readonly string[]): string | false => {
  const absent = programs.filter((program) => spawnSync('sh', ['-c', `command -v ${program}`]).status !== 0)
  return absent.length > 0 && `${absent.join(', ')} not installed`
}

const insecure = ['--src-tls-verify=false', '--dest-tls-verify=false'] as const
const run = promisify(execFile)
/** Asynchronous, because the registry may be in this process. */
const skopeo = async (...args: readonly string[]): Promise<string> => (await run('skopeo', args)).stdout

const lowerFiles = { 'etc/passwd': 'root:x:0:0::/:/bin/sh\n', 'opt/old': 'old' }

/** A folder with `image.tar`, an archive of an image with two layers, and empty stores. */
function setUp(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 't8s-peers-'))
  t.after(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 }))
  const path = (name: string): string => join(folder, name)
  const layers = [
    layerOf((root) => writeFiles(root, lowerFiles)),
    layerOf((root) => writeFiles(root, { 'opt/.wh.old': '', 'opt/new': 'new' })),
  ]
  writeImage(path('image.tar'), ['registry.test/web:1'], layers, { User: '7', Cmd: ['/bin/sh'] })
  return { path, store: new ImageStore(path('store')), other: new ImageStore(path('other')) }
}

async function exportTo(store: ImageStore, reference: string, file: string): Promise<void> {
  const output = createWriteStream(file)
  await exportArchive(store, [reference], output)
  output.end()
  await finished(output)
}

test('skopeo pushes to the served registry, and pulls from it', { skip: missing('skopeo') }, async (t) => {
  const { path, store, other } = setUp(t)
  const served = await serveImages({ store })
  t.after(() => served.stop())
  await skopeo('copy', ...insecure, `oci-archive:${path('image.tar')}`, `docker://${served.host}/team/web:1`)
  await skopeo(
    'copy',
    ...insecure,
    '--format=v2s2',
    `docker://${served.host}/team/web:1`,
    `docker://${served.host}/team/web:2`,
  )
  assert.deepEqual(
    JSON.parse(await skopeo('list-tags', '--tls-verify=false', `docker://${served.host}/team/web`)).Tags,
    ['1', '2'],
  )
  const inspected = JSON.parse(await skopeo('inspect', '--tls-verify=false', `docker://${served.host}/team/web:2`))
  const puller = new ImagePuller({ store: other })
  t.after(() => puller.close())
  const pulled = await puller.pull(`${served.host}/team/web:2`)
  assert.deepEqual(pulled.digests, [`${served.host}/team/web@${inspected.Digest}`])
  assert.equal(pulled.config.defaults.User, '7')
  await skopeo('copy', ...insecure, `docker://${served.host}/team/web:1`, `oci:${path('layout')}:web`)
  // Nothing of a pushed image is garbage.
  await served.stop()
  assert.equal((await store.collectGarbage()).blobs, 0)
  assert.equal(store.get('localhost/team/web:1').id, pulled.id)
})

test('a read-only registry rejects pushes', { skip: missing('skopeo') }, async (t) => {
  const { path, store } = setUp(t)
  const served = await serveImages({ store, isWritable: false })
  t.after(() => served.stop())
  const args = ['copy', ...insecure, `oci-archive:${path('image.tar')}`, `docker://${served.host}/web:1`]
  await assert.rejects(run('skopeo', args), /this registry is read-only/)
  assert.deepEqual(store.list(), [])
})

/** Starts Docker's registry in a folder. Resolves with its host. */
async function startRegistry(t: TestContext, path: (name: string) => string): Promise<string> {
  const port = await freePort()
  writeFileSync(
    path('config.yml'),
    `version: 0.1\nstorage: {filesystem: {rootdirectory: ${path('data')}}}\nhttp: {addr: "127.0.0.1:${port}"}\n`,
  )
  const registry = spawn('docker-registry', ['serve', path('config.yml')], { stdio: 'ignore' })
  t.after(() => registry.kill())
  const host = `127.0.0.1:${port}`
  for (let tries = 0; !(await fetch(`http://${host}/v2/`).catch(() => undefined))?.ok; tries++) {
    assert.ok(tries < 600, 'the registry does not answer')
    await delay(100)
  }
  return host
}

test("an image is pulled from Docker's registry", { skip: missing('skopeo', 'docker-registry') }, async (t) => {
  const { path, store } = setUp(t)
  const host = await startRegistry(t, path)
  await skopeo('copy', ...insecure, `oci-archive:${path('image.tar')}`, `docker://${host}/web:1`)
  const puller = new ImagePuller({ store })
  t.after(() => puller.close())
  assert.equal((await puller.pull(`${host}/web:1`)).layers.length, 2)
  await assert.rejects(puller.pull(`${host}/web:2`), { code: 'NotFound' })
})

test("an image is pushed to Docker's registry, and its blobs are mounted elsewhere", {
  skip: missing('skopeo', 'docker-registry'),
}, async (t) => {
  const { path, store, other } = setUp(t)
  const host = await startRegistry(t, path)
  const [image] = await importArchive(store, path('image.tar'))
  const pusher = new ImagePusher({ store })
  const puller = new ImagePuller({ store: other })
  t.after(() => {
    pusher.close()
    puller.close()
  })
  const pushed = await pusher.push('registry.test/web:1', `${host}/team/web:1`)
  assert.deepEqual(pushed, { name: `${host}/team/web@${image?.manifest}`, presentBlobs: 0, uploadedBlobs: 3 })
  assert.equal((await puller.pull(`${host}/team/web:1`)).id, image?.id)
  const inspected = JSON.parse(await skopeo('inspect', '--tls-verify=false', `docker://${host}/team/web:1`))
  assert.equal(inspected.Digest, image?.manifest)
  // Names in the store show which repository of the registry has the blobs.
  await store.tag('registry.test/web:1', `${host}/team/web:1`)
  assert.deepEqual(
    { ...(await pusher.push(`${host}/team/web:1`, `${host}/copy:1`)), name: '' },
    { name: '', presentBlobs: 3, uploadedBlobs: 0 },
  )
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise((resolve) => server.once('listening', resolve))
  const { port } = server.address() as AddressInfo
  await new Promise((resolve) => server.close(resolve))
  return port
}

test('archives go to skopeo and come back', { skip: missing('skopeo') }, async (t) => {
  const { path, store } = setUp(t)
  const [image] = await importArchive(store, path('image.tar'))
  await exportTo(store, 'registry.test/web:1', path('export.tar'))
  for (const [from, to] of [
    ['docker-archive', 'docker-archive'],
    ['oci-archive', 'oci-archive'],
  ] as const) {
    const file = path(`${to}.tar`)
    await skopeo('copy', `${from}:${path('export.tar')}`, `${to}:${file}:registry.test/copy:2`)
    const [copy] = await importArchive(new ImageStore(path(to)), file)
    assert.deepEqual(copy?.tags, ['registry.test/copy:2'])
    assert.deepEqual(
      copy?.layers.map(({ diffId }) => diffId),
      image?.layers.map(({ diffId }) => diffId),
    )
  }
})

test('a root file system is equal to that of umoci', {
  skip: missing('umoci', 'skopeo') || (!isRoot && 'needs root'),
}, async (t) => {
  const { path, store } = setUp(t)
  const [image] = await importArchive(store, path('image.tar'))
  await skopeo('copy', `oci-archive:${path('image.tar')}`, `oci:${path('layout')}:web`)
  execFileSync('umoci', ['raw', 'unpack', '--image', `${path('layout')}:web`, path('umoci')], { stdio: 'ignore' })
  const snapshots = await LayeredSnapshots.open({ store })
  await snapshots.prepare('one', image!)
  const list = (cwd: string): string =>
    execFileSync('find', ['.', '-mindepth', '1', '-printf', '%P %y %m %U %G %s %T@\\n'], { cwd, encoding: 'utf8' })
      .replace(/ d (\d+ \d+ \d+) \d+ .*/g, ' d $1')
      .split('\n')
      .sort()
      .join('\n')
  try {
    const root = await snapshots.mount('one')
    assert.equal(list(root), list(path('umoci')))
    assert.equal(readFileSync(join(root, 'opt/new'), 'utf8'), 'new')
  } finally {
    await snapshots.remove('one')
  }
})

test('containerd reads exported archives, and its own are imported', {
  skip: missing('containerd', 'ctr', 'crun') || (!isRoot && 'needs root'),
}, async (t) => {
  const { path, store, other } = setUp(t)
  const [image] = await importArchive(store, path('image.tar'))
  await exportTo(store, image!.id, path('export.tar'))
  const containerd = await startContainerd()
  t.after(() => containerd.stop())
  const ctr = (...args: readonly string[]) =>
    containerd.enter('ctr', '-a', containerd.endpoint.slice('unix://'.length), 'images', ...args)
  await ctr('import', path('export.tar'))
  assert.match(await ctr('list', '-q'), /^registry\.test\/web:1$/m)
  await ctr('export', path('containerd.tar'), 'registry.test/web:1')
  const [copy] = await importArchive(other, path('containerd.tar'))
  assert.deepEqual([copy?.id, copy?.tags], [image?.id, ['registry.test/web:1']])
})
