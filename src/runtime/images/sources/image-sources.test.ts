import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { exportArchive } from '../archives/export-archive.ts'
import { ImageStore } from '../store/image-store.ts'
import { storeImage } from '../store/stored-image.fixture.ts'
import { openImageSources } from './open-image-sources.ts'

/** A Docker engine on a unix socket with the images of a store, and an empty store whose source it is. */
async function setUp(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 't8s-sources-'))
  const path = (name: string): string => join(folder, name)
  const engineStore = new ImageStore(path('engine'))
  const requests: string[] = []
  const engine = createServer((request, response) => {
    const [, name = '', action] = /^(?:\/v1\.\d+)?\/images\/(.+)\/(json|get)$/.exec(request.url ?? '') ?? []
    if (request.url === '/_ping') {
      response.writeHead(200, { 'api-version': '1.41' }).end('OK')
      return
    }
    requests.push(`${action} ${name}`)
    const image = engineStore.find(name)
    if (!image) response.writeHead(404).end(JSON.stringify({ message: `No such image: ${name}` }))
    else if (action === 'json') response.end(JSON.stringify({ Id: image.id }))
    else void exportArchive(engineStore, [name], response).then(() => response.end())
  })
  const listen = () => new Promise<void>((resolve) => engine.listen(path('docker.sock'), resolve))
  const stop = () => {
    engine.closeAllConnections()
    return new Promise((resolve) => engine.close(resolve))
  }
  await listen()
  const store = new ImageStore(path('store'))
  const log: string[] = []
  const sources = openImageSources(store, [`docker:${path('docker.sock')}`], (line) => log.push(line))
  t.after(async () => {
    sources.close()
    await stop()
    rmSync(folder, { recursive: true, force: true })
  })
  return { engineStore, store, sources, requests, log, listen, stop }
}

test('an image of the engine is copied when it is wanted, and once more when it has changed there', async (t) => {
  const { engineStore, store, sources, requests, log } = await setUp(t)
  const first = await storeImage(engineStore, 'docker.io/library/web:1', [[['a', 'A']]])
  assert.equal((await sources.update('web:1'))?.id, first.id)
  assert.equal(store.get('web:1').id, first.id)
  assert.equal((await sources.update('docker.io/library/web:1'))?.id, first.id)
  assert.deepEqual(
    requests.map((line) => line.split(' ')[0]),
    ['json', 'get', 'json'],
  )
  const second = await storeImage(engineStore, 'docker.io/library/web:1', [[['a', 'B']]])
  assert.equal((await sources.update('web:1'))?.id, second.id)
  assert.equal(log.length, 2)
  assert.match(log[0]!, /^the image docker\.io\/library\/web:1 was copied from docker \(unix:\/\/.*docker\.sock\)$/)
})

test('an image that the engine does not have, and an ID, are not its business', async (t) => {
  const { sources, requests, log } = await setUp(t)
  assert.equal(await sources.update('web:1'), undefined)
  assert.equal(await sources.update(`sha256:${'0'.repeat(64)}`), undefined)
  assert.equal(await sources.update('0123456789ab'), undefined)
  assert.equal(await sources.update('Not a name'), undefined)
  assert.deepEqual([requests, log], [['json docker.io/library/web:1'], []])
})

test('an engine that does not run is logged once, until it answers', async (t) => {
  const { engineStore, sources, log, listen, stop } = await setUp(t)
  await storeImage(engineStore, 'docker.io/library/web:1', [[['a', 'A']]])
  await stop()
  for (let i = 0; i < 2; i++) assert.equal(await sources.update('web:1'), undefined)
  assert.equal(log.length, 1)
  assert.match(log[0]!, /cannot give the image docker\.io\/library\/web:1: .*does not answer/)
  await listen()
  assert.ok(await sources.update('web:1'))
})

for (const text of ['podman', 'docker:socket', 'docker,namespace=x', 'containerd:/x,y'])
  test(`the source ${text} is rejected`, async (t) => {
    const { store } = await setUp(t)
    assert.throws(
      () => openImageSources(store, [text], () => {}),
      /is no source of images: write docker, docker:SOCKET/,
    )
  })
