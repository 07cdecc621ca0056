import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { registryHandler } from '../../serve/registry-handler.ts'
import { ImageStore } from '../../store/image-store.ts'
import { storeImage } from '../../store/stored-image.fixture.ts'
import { ImagePusher } from './image-pusher.ts'

/** Answers in place of the registry if it returns true. */
type Intercept = (request: IncomingMessage, response: ServerResponse) => boolean

/** A store with the image `web:1` of two layers, and a registry on another store. */
async function setUp(t: TestContext, { isWritable = true, intercept = (() => false) as Intercept } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 't8s-push-'))
  const [store, other] = ['one', 'two'].map((name) => new ImageStore(join(folder, name))) as [ImageStore, ImageStore]
  const lease = other.lease()
  const handle = registryHandler({ store: other, lease, isWritable })
  const requests: string[] = []
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url?.replace(/[0-9a-f]{32,}/g, 'X').replace(/\?.*/, '')}`)
    if (intercept(request, response)) request.resume()
    else handle(request, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const pusher = new ImagePusher({ store, retries: { firstPauseMs: 1 } })
  t.after(() => {
    pusher.close()
    server.closeAllConnections()
    server.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const image = await storeImage(store, 'docker.io/library/web:1', [[['a', 'A']], [['b', 'B'.repeat(100_000)]]])
  return { image, store, other, pusher, requests, host: `127.0.0.1:${(server.address() as AddressInfo).port}` }
}

test('an image is pushed, and a second push sends no blob', async (t) => {
  const { image, other, pusher, host, requests } = await setUp(t)
  const progress = new Map<string, number>()
  const options = {
    onProgress: ({ digest, received }: { readonly digest: string; readonly received: number }) =>
      void progress.set(digest, received),
  }
  const pushed = await pusher.push('web:1', `${host}/team/web:2`, options)
  assert.deepEqual(pushed, { name: `${host}/team/web@${image.manifest}`, presentBlobs: 0, uploadedBlobs: 3 })
  assert.equal(other.get('localhost/team/web:2').id, image.id)
  for (const { digest, size } of image.layers) assert.equal(progress.get(digest), size)
  requests.length = 0
  assert.equal((await pusher.push(image.id, `${host}/team/web:3`)).uploadedBlobs, 0)
  assert.deepEqual(
    requests.filter((line) => !line.startsWith('HEAD')),
    ['PUT /v2/team/web/manifests/3'],
  )
})

test('a login is sent once the registry asks for it', async (t) => {
  const login = { username: 'user', password: 'secret' }
  const expected = `Basic ${Buffer.from('user:secret').toString('base64')}`
  const intercept: Intercept = ({ headers }, response) => {
    if (headers.authorization === expected) return false
    response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end()
    return true
  }
  const { pusher, host, other, image } = await setUp(t, { intercept })
  await assert.rejects(pusher.push('web:1', `${host}/web:1`), /access denied/)
  await pusher.push('web:1', `${host}/web:1`, { login })
  assert.equal(other.get('localhost/web:1').id, image.id)
})

test('an upload that fails is repeated', async (t) => {
  let failures = 2
  const intercept: Intercept = ({ method }, response) => {
    if (method !== 'PUT' || failures-- <= 0) return false
    response.writeHead(503).end()
    return true
  }
  const { pusher, host, other } = await setUp(t, { intercept })
  await pusher.push('web:1', `${host}/web:1`)
  assert.equal(other.list().length, 1)
})

test('uploads do not go to other hosts', async (t) => {
  const intercept: Intercept = ({ method }, response) => {
    if (method !== 'POST') return false
    response.writeHead(202, { location: 'http://127.0.0.2:1/upload' }).end()
    return true
  }
  const { pusher, host } = await setUp(t, { intercept })
  await assert.rejects(pusher.push('web:1', `${host}/web:1`), /wants uploads at http:\/\/127\.0\.0\.2:1, another host/)
})

test('errors of a push say what is wrong', async (t) => {
  const { pusher, host } = await setUp(t, { isWritable: false })
  await assert.rejects(pusher.push('web:1', `${host}/web:1`), /405 .*\n.*this registry is read-only/)
  await assert.rejects(pusher.push('gone:1', `${host}/web:1`), { code: 'NotFound' })
  await assert.rejects(pusher.push('web:1', `${host}/web@sha256:${'0'.repeat(64)}`), /push to a name with a tag/)
})
