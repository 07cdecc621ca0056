import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { digestOf } from '../../formats/digest.ts'
import { mediaTypes } from '../../formats/media-types.ts'
import { ImageStore } from '../../store/image-store.ts'
import { ImagePuller } from '../pull/image-puller.ts'
import { type FakeRegistry, fakeRegistry } from '../registry.fixture.ts'

const platform = { os: 'linux', architecture: 'amd64' }
const login = { username: 'me', password: 'secret' }
const basic = `Basic ${Buffer.from('me:secret').toString('base64')}`

function newPuller(t: TestContext) {
  const folder = mkdtempSync(join(tmpdir(), 't8s-pull-'))
  const store = new ImageStore(folder)
  const puller = new ImagePuller({ store, retries: { attempts: 2, firstPauseMs: 1 } })
  t.after(() => {
    puller.close()
    rmSync(folder, { recursive: true })
  })
  return { store, puller }
}

async function registryWithImage(t: TestContext): Promise<FakeRegistry> {
  const registry = await fakeRegistry(t)
  registry.addImage('1', [Buffer.from('files')])
  return registry
}

test('a login is sent after a challenge only', async (t) => {
  const registry = await registryWithImage(t)
  registry.intercept = ({ headers }, response) => {
    if (headers.authorization === basic) return false
    response.writeHead(401, { 'www-authenticate': 'Basic realm="test"' }).end()
    return true
  }
  const { puller } = newPuller(t)
  await puller.pull(`${registry.host}/web:1`, { platform, login })
  assert.equal(registry.requests[0]?.headers.authorization, undefined)
  for (const wrong of [undefined, { ...login, password: 'wrong' }])
    await assert.rejects(puller.pull(`${registry.host}/web:1`, { platform, login: wrong }), {
      code: 'Unknown',
      message: /pull access denied, repository does not exist or may require authorization: server message: auth/,
    })
})

/** Requires tokens, which it issues itself. */
function withTokens(registry: FakeRegistry, allowed: (headers: Record<string, unknown>) => boolean): string[] {
  const tokenUrls: string[] = []
  registry.intercept = ({ url = '', method, headers }, response) => {
    if (url.startsWith('/token')) {
      tokenUrls.push(`${method} ${url}`)
      if (allowed(headers)) response.end(JSON.stringify({ token: 'good', expires_in: 300 }))
      else response.writeHead(401).end()
      return true
    }
    if (headers.authorization === 'Bearer good') return false
    const realm = `http://${registry.host}/token?x=1`
    const challenge = `Bearer realm="${realm}",service="test \\"one\\"",scope="repository:web:pull"`
    response.writeHead(401, { 'www-authenticate': challenge }).end()
    return true
  }
  return tokenUrls
}

test('a token is fetched once a pull, anonymously and with a login', async (t) => {
  const registry = await registryWithImage(t)
  const tokenUrls = withTokens(registry, ({ authorization }) => authorization === undefined || authorization === basic)
  await newPuller(t).puller.pull(`${registry.host}/web:1`, { platform })
  await newPuller(t).puller.pull(`${registry.host}/web:1`, { platform, login })
  const query = '/token?x=1&service=test+%22one%22&scope=repository%3Aweb%3Apull'
  assert.deepEqual(tokenUrls, [`GET ${query}`, `GET ${query}&account=me`])
})

test('an identity token is exchanged for a token', async (t) => {
  const registry = await registryWithImage(t)
  const tokenUrls = withTokens(registry, ({ authorization }) => authorization === undefined)
  const identity = { username: '', password: '', identityToken: 'refresh' }
  await newPuller(t).puller.pull(`${registry.host}/web:1`, { platform, login: identity })
  assert.deepEqual(tokenUrls, ['POST /token?x=1'])
})

test('a denied token is an error', async (t) => {
  const registry = await registryWithImage(t)
  withTokens(registry, () => false)
  await assert.rejects(newPuller(t).puller.pull(`${registry.host}/web:1`), {
    code: 'Unknown',
    message: /failed to authorize: failed to fetch anonymous token: unexpected status: 401 Unauthorized/,
  })
})

test('a redirect to another host does not carry the credentials', async (t) => {
  const [registry, storage] = [await registryWithImage(t), await fakeRegistry(t)]
  storage.intercept = ({ url = '' }, response) => {
    response.end(registry.blobs.get(url.slice(1)))
    return true
  }
  registry.intercept = ({ url = '', headers }, response) => {
    if (headers.authorization !== basic) response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end()
    else if (url.includes('/blobs/'))
      response.writeHead(307, { location: `http://${storage.host}/${url.split('/').at(-1)}` }).end()
    else return false
    return true
  }
  await newPuller(t).puller.pull(`${registry.host}/web:1`, { platform, login })
  assert.equal(storage.requests.length, 2)
  assert.ok(storage.requests.every(({ headers }) => headers.authorization === undefined))
})

test('endless redirects and those to files end with an error', async (t) => {
  const registry = await registryWithImage(t)
  const { puller } = newPuller(t)
  for (const [location, message] of [
    ['/v2/web/manifests/1', /too many redirects/],
    ['file:///etc/passwd', /redirected to file:/],
  ] as const) {
    registry.intercept = (_, response) => {
      response.writeHead(302, { location }).end()
      return true
    }
    await assert.rejects(puller.pull(`${registry.host}/web:1`), { code: 'Unavailable', message })
  }
})

test('a blob with another content is rejected', async (t) => {
  const registry = await registryWithImage(t)
  for (const [digest, bytes] of registry.blobs) registry.blobs.set(digest, Buffer.from(bytes).fill(0, 0, 1))
  const { store, puller } = newPuller(t)
  await assert.rejects(puller.pull(`${registry.host}/web:1`, { platform }), {
    code: 'FailedPrecondition',
    message: /unexpected commit digest sha256:\w+, expected sha256:\w+: failed precondition/,
  })
  assert.deepEqual([readdirSync(store.paths.blobs).length, readdirSync(store.paths.ingest)], [1, []])
})

for (const [title, change, message] of [
  ['smaller', -1, /is longer than the \d+ bytes of its descriptor/],
  ['larger', 1, /has \d+ bytes: its descriptor states \d+/],
] as const)
  test(`a manifest that states a ${title} size is rejected`, async (t) => {
    const registry = await registryWithImage(t)
    const manifest = JSON.parse(registry.manifests.get('1')!.bytes.toString())
    manifest.layers[0].size += change
    registry.put('1', mediaTypes.manifest, manifest)
    await assert.rejects(newPuller(t).puller.pull(`${registry.host}/web:1`, { platform }), {
      code: 'FailedPrecondition',
      message,
    })
  })

test('a manifest is verified by its digest', async (t) => {
  const registry = await registryWithImage(t)
  const digest = digestOf('another manifest')
  registry.manifests.set(digest, registry.manifests.get('1')!)
  await assert.rejects(newPuller(t).puller.pull(`${registry.host}/web@${digest}`, { platform }), {
    code: 'FailedPrecondition',
    message: /unexpected digest of the manifest/,
  })
})

for (const [title, document, message] of [
  ['that is not JSON', 'text', /is not an object/],
  ['of schema 1', { schemaVersion: 1 }, /only 2 is supported/],
  ['that is an index, too', { schemaVersion: 2, manifests: [], layers: [] }, /ambiguous/],
  ['with a path as digest', { schemaVersion: 2, layers: [{ size: 1, digest: '../../x' }] }, /is not a SHA-256 digest/],
  ['with a negative size', { schemaVersion: 2, layers: [{ size: -1, digest: digestOf('') }] }, /is not a size/],
] as const)
  test(`a manifest ${title} is rejected`, async (t) => {
    const registry = await fakeRegistry(t)
    registry.put('1', mediaTypes.manifest, document)
    await assert.rejects(newPuller(t).puller.pull(`${registry.host}/web:1`), { code: 'FailedPrecondition', message })
  })

test('a huge manifest is not read to its end', async (t) => {
  const registry = await fakeRegistry(t)
  registry.intercept = (_, response) => {
    response.writeHead(200)
    const fill = (): void => void response.write(Buffer.alloc(1 << 20), (error) => !error && fill())
    fill()
    return true
  }
  await assert.rejects(newPuller(t).puller.pull(`${registry.host}/web:1`), /longer than 4194304 bytes/)
})
