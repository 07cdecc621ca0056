import assert from 'node:assert/strict'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import type { Secret } from '../../../client/kinds.ts'
import { parseConfigJson } from '../../../node/images/docker-config.ts'
import { PodEvents } from '../../containers/container-events.ts'
import type { Pod } from '../../pod-types.ts'
import { ImageCredentials } from './image-credentials.ts'
import { lookUpCredentials } from './keyring.ts'
import { NodeConfig } from './node-config.ts'
import { checkProviderPrograms, parseProviderConfig, readProviderConfig } from './provider-config.ts'
import { CredentialProvider, providerRunner } from './provider-plugin.ts'
import { matchesRegistry } from './registry-pattern.ts'

for (const [pattern, image, expected] of [
  ['registry.test', 'registry.test/app', true],
  ['https://registry.test', 'registry.test/app', true],
  ['registry.test/team', 'registry.test/team/app', true],
  ['registry.test/team', 'registry.test/other/app', false],
  ['*.registry.test', 'a.registry.test/app', true],
  ['*.registry.test', 'a.b.registry.test/app', false],
  ['*.*.registry.test', 'a.b.registry.test/app', true],
  ['re*st?y.test', 'registry.test/app', true],
  ['registry.test:5000', 'registry.test:5000/app', true],
  ['registry.test', 'registry.test:5000/app', false],
  ['registry.test:5000', 'registry.test/app', false],
  ['[a-f]egistry.test', 'registry.test/app', false],
  ['[^a-f]egistry.test', 'registry.test/app', true],
  ['*', 'localhost/app', true],
  [`${'*a'.repeat(40)}b`, 'a'.repeat(63), false],
] as const)
  test(`the pattern ${pattern.slice(0, 30)} ${expected ? 'matches' : 'does not match'} ${image.slice(0, 30)}`, () => {
    assert.equal(matchesRegistry(pattern, image), expected)
  })

const config = parseConfigJson(
  JSON.stringify({
    auths: {
      'https://index.docker.io/v1/': { username: 'docker', password: 'x' },
      'registry.test': { username: 'host', password: 'x' },
      'registry.test/team': { auth: Buffer.from('path:pass:word').toString('base64') },
      'http://other.test/v2/team': { username: 'v2', password: 'x' },
    },
  }),
)

for (const [image, users] of [
  ['docker.io/library/nginx', ['docker']],
  ['registry.test/app', ['host']],
  ['registry.test/team/app', ['path', 'host']],
  ['other.test/team/app', ['v2']],
  ['unknown.test/app', []],
] as const)
  test(`credentials for ${image}: ${users.join(', ') || 'none'}`, () => {
    const found = lookUpCredentials(config, image)
    assert.deepEqual(
      found.map(({ username }) => username),
      users,
    )
  })

test('a password may contain colons; an auth that has none is not valid', () => {
  assert.equal(lookUpCredentials(config, 'registry.test/team/app')[0]?.password, 'pass:word')
  const auth = Buffer.from('nothing').toString('base64')
  assert.throws(() => parseConfigJson(JSON.stringify({ auths: { a: { auth } } })), {
    message: 'unable to parse auth field, must be formatted as base64(username:password)',
  })
})

function folderOf(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), 't8s-credentials-'))
  t.after(() => rmSync(folder, { recursive: true }))
  return folder
}

test("the node's config.json counts before .dockercfg, and is read again after five minutes", (t) => {
  const folder = folderOf(t)
  let now = 0
  const node = new NodeConfig({ configFolders: ['/missing', folder], dockercfgFolders: [folder], now: () => now })
  assert.equal(node.get().size, 0)
  writeFileSync(join(folder, '.dockercfg'), JSON.stringify({ old: { username: 'old', password: 'x' } }))
  assert.equal(node.get().size, 0)
  now += 300_000
  assert.deepEqual([...node.get().keys()], ['old'])
  writeFileSync(join(folder, 'config.json'), JSON.stringify({ auths: { new: { username: 'new', password: 'x' } } }))
  now += 300_000
  assert.deepEqual([...node.get().keys()], ['new'])
})

const providerYaml = (more: object = {}): string =>
  JSON.stringify({
    apiVersion: 'kubelet.config.k8s.io/v1',
    kind: 'CredentialProviderConfig',
    providers: [
      {
        name: 'helper',
        apiVersion: 'credentialprovider.kubelet.k8s.io/v1',
        matchImages: ['*.registry.test'],
        defaultCacheDuration: '12h',
        ...more,
      },
    ],
  })

for (const [more, problem] of [
  [{ name: '..' }, `providers.name: Invalid value: "..": provider name cannot be '..'`],
  [{ name: 'a/b' }, `providers.name: Invalid value: "a/b": provider name cannot contain '/'`],
  [{ matchImages: [] }, 'providers.matchImages: Required value: at least 1 item in matchImages is required'],
  [
    { defaultCacheDuration: undefined },
    'providers.defaultCacheDuration: Required value: defaultCacheDuration is required',
  ],
  [{ apiVersion: undefined }, 'providers.apiVersion: Required value: apiVersion is required'],
] as const)
  test(`a config of credential providers with ${JSON.stringify(more)} is not valid`, () => {
    assert.throws(() => parseProviderConfig([providerYaml(more)]), {
      message: `failed to validate credential provider config: ${problem}`,
    })
  })

test('credential providers are read from a file, or from all files of a folder; their programs must exist', (t) => {
  const folder = folderOf(t)
  writeFileSync(join(folder, 'b.json'), providerYaml({ name: 'b' }))
  writeFileSync(join(folder, 'a.yaml'), providerYaml({ name: 'a' }))
  writeFileSync(join(folder, 'other.txt'), 'x')
  const names = (path: string): string[] => readProviderConfig(path).map(({ name }) => name)
  assert.deepEqual(names(folder), ['a', 'b'])
  assert.deepEqual(names(join(folder, 'b.json')), ['b'])
  assert.throws(() => checkProviderPrograms(folder, readProviderConfig(folder)), {
    message: `plugin binary executable ${join(folder, 'a')} did not exist`,
  })
})

const answerOf = (cacheKeyType: string, more: object = {}): string =>
  JSON.stringify({
    kind: 'CredentialProviderResponse',
    apiVersion: 'credentialprovider.kubelet.k8s.io/v1',
    cacheKeyType,
    auth: { '*.registry.test': { username: 'me', password: 'secret' } },
    ...more,
  })

function providerOf(answer: () => string) {
  const requests: string[] = []
  const logged: string[] = []
  let now = 0
  const [settings] = parseProviderConfig([providerYaml()])
  const provider = new CredentialProvider(settings!, {
    async run(_, request) {
      requests.push((JSON.parse(request) as { image: string }).image)
      return answer()
    },
    log: (line) => void logged.push(line),
    now: () => now,
  })
  return { provider, requests, logged, pass: (ms: number) => void (now += ms) }
}

const images = ['a.registry.test/one', 'a.registry.test/two', 'b.registry.test/one', 'a.registry.test/one']

for (const [type, requests] of [
  ['Image', images.slice(0, 3)],
  ['Registry', ['a.registry.test/one', 'b.registry.test/one']],
  ['Global', ['a.registry.test/one']],
] as const)
  test(`answers of a credential provider with the cache key ${type} are cached`, async () => {
    const { provider, requests: seen, pass } = providerOf(() => answerOf(type))
    for (const image of images) assert.equal((await provider.provide(image)).size, 1)
    assert.deepEqual(seen, requests)
    pass(12 * 3600_000 + 1)
    await provider.provide(images[0]!)
    assert.equal(seen.length, requests.length + 1)
  })

test('an answer with the cache duration 0 is not cached, and one request serves pods at the same time', async () => {
  const { provider, requests } = providerOf(() => answerOf('Image', { cacheDuration: '0s' }))
  await Promise.all([provider.provide(images[0]!), provider.provide(images[0]!)])
  await provider.provide(images[0]!)
  assert.equal(requests.length, 2)
})

test('a credential provider is not run for other images, and its errors show no credentials', async () => {
  const { provider, requests, logged } = providerOf(() => 'secret')
  assert.equal((await provider.provide('other.test/app')).size, 0)
  assert.deepEqual(requests, [])
  assert.equal((await provider.provide(images[0]!)).size, 0)
  assert.match(logged[0]!, /error decoding credential provider plugin response from stdout$/)
})

test('the program of a credential provider gets the request, its arguments and environment', async (t) => {
  const folder = folderOf(t)
  const file = join(folder, 'helper')
  writeFileSync(file, '#!/bin/sh\ncat >&2\necho "$1 $A $B"\nexit "$2"\n')
  chmodSync(file, 0o755)
  const [settings] = parseProviderConfig([providerYaml({ env: [{ name: 'B', value: 'b' }] })])
  const run = providerRunner(folder, { A: 'a', B: 'x', PATH: process.env.PATH })
  assert.equal(await run({ ...settings!, args: ['x y', '0'] }, 'request'), 'x y a b\n')
  await assert.rejects(run({ ...settings!, args: ['', '3'] }, 'request'), {
    message: 'error execing credential provider plugin helper: exit status 3: request',
  })
})

test('credentials of secrets count before those of the node; a missing secret is an event', async () => {
  const events: string[] = []
  const secret: Secret = {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'login', namespace: 'default', uid: 's' },
    type: 'kubernetes.io/dockerconfigjson',
    data: {
      '.dockerconfigjson': Buffer.from(
        JSON.stringify({ auths: { 'registry.test': { username: 'pod', password: 'x' } } }),
      ).toString('base64'),
    },
  }
  const credentials = new ImageCredentials({
    node: { get: () => config },
    providers: [],
    events: new PodEvents(
      { record: (_, type, reason, message) => void events.push(`${type} ${reason} ${message}`) },
      'n',
    ),
    log: () => {},
    secret: async (_, name) => (name === 'login' ? secret : undefined),
  })
  const pod = {
    metadata: { namespace: 'default' },
    spec: { imagePullSecrets: [{ name: 'lost' }, { name: 'login' }, { name: 'gone' }] },
  } as Pod
  const found = await credentials.lookUp(pod, 'registry.test/app:1')
  assert.deepEqual(
    found.map(({ username, secret: source }) => [username, source?.name]),
    [
      ['pod', 'login'],
      ['host', undefined],
    ],
  )
  const message =
    'Unable to retrieve some image pull secrets (lost, gone); attempting to pull the image may not succeed.'
  assert.deepEqual(events, [`Warning FailedToRetrieveImagePullSecret ${message}`])
})
