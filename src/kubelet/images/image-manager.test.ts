import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Image } from '#protobuf/cri-images_pb.js'
import { GrpcError } from '../../lib/grpc/grpc-error.ts'
import { BackOff, pullBackOff } from '../containers/back-off.ts'
import { PodEvents } from '../containers/container-events.ts'
import { StartError } from '../containers/start-container.ts'
import type { ImageCredentials } from '../cri/images.ts'
import type { Container, Pod } from '../pod-types.ts'
import type { Credential } from './credentials/keyring.ts'
import { ImageManager } from './image-manager.ts'
import { type PullLimits, PullQueue } from './pull-queue.ts'

const pod = { metadata: { name: 'web', namespace: 'default', uid: 'u' }, spec: { containers: [] } } as unknown as Pod

const defaultPullLimits: PullLimits = { isSerial: true, perSecond: 5, burst: 10 }

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function managerOf(limits: PullLimits = defaultPullLimits) {
  let now = 0
  const state = {
    present: new Map<string, string>(),
    pulls: [] as string[],
    events: [] as string[],
    recorded: [] as string[],
    credentials: [] as Partial<Credential>[],
    mustPull: false,
    /** The work of a pull; by default it takes two seconds. */
    pull: async (_image: string, _auth?: ImageCredentials, _signal?: AbortSignal): Promise<void> => void (now += 2_000),
    findError: undefined as Error | undefined,
  }
  const manager = new ImageManager({
    images: {
      async find(image) {
        if (state.findError) throw state.findError
        const id = image.startsWith('sha256:') ? image : state.present.get(image)
        return id ? ({ id, size: 7n, username: '', repoTags: [], repoDigests: [] } as unknown as Image) : undefined
      },
      async pull(image, auth, _sandbox, signal) {
        state.pulls.push(auth ? `${image} as ${auth.username}` : image)
        await state.pull(image, auth, signal)
        state.present.set(image, `sha256:${image}`)
        return `sha256:${image}`
      },
    },
    credentials: { lookUp: async () => state.credentials as Credential[] },
    access: {
      begin: (image) => void state.recorded.push(`begin ${image}`),
      succeed: (image, ref, credential) => void state.recorded.push(`succeed ${image} ${ref} ${credential?.username}`),
      fail: (image) => void state.recorded.push(`fail ${image}`),
      mustPull: async () => state.mustPull,
    },
    queue: new PullQueue(limits, () => now),
    backOff: new BackOff(pullBackOff, () => now),
    events: new PodEvents(
      { record: (_, type, reason, message) => void state.events.push(`${type} ${reason} ${message}`) },
      'n',
    ),
    now: () => now,
  })
  const ensure = (image: string, imagePullPolicy?: string, of = pod) =>
    manager.ensure(of, { name: 'c', image, imagePullPolicy } as Container, {})
  const failure = async (image: string, policy?: string): Promise<string> => {
    try {
      await ensure(image, policy)
    } catch (error) {
      if (error instanceof StartError) return `${error.reason}: ${error.message}`
      throw error
    }
    return 'none'
  }
  return { manager, state, ensure, failure, pass: (ms: number) => void (now += ms) }
}

const present = 'already present on machine and can be accessed by the pod'

for (const [policy, isPresent, pulls, event] of [
  ['IfNotPresent', true, 0, `Normal Pulled Container image "a:1" ${present}`],
  ['Never', true, 0, `Normal Pulled Container image "a:1" ${present}`],
  [
    'Always',
    true,
    1,
    'Normal Pulled Successfully pulled image "a:1" in 2s (2s including waiting). Image size: 7 bytes.',
  ],
  [
    'IfNotPresent',
    false,
    1,
    'Normal Pulled Successfully pulled image "a:1" in 2s (2s including waiting). Image size: 7 bytes.',
  ],
  [undefined, true, 0, `Normal Pulled Container image "a:1" ${present}`],
] as const)
  test(`policy ${policy} with an image that is ${isPresent ? 'present' : 'missing'}: ${pulls} pulls`, async () => {
    const { state, ensure } = managerOf()
    if (isPresent) state.present.set('a:1', 'sha256:a:1')
    assert.deepEqual(await ensure('a:1', policy), { id: 'sha256:a:1', user: { uid: undefined, username: '' } })
    assert.equal(state.pulls.length, pulls)
    assert.equal(state.events.at(-1), event)
    assert.deepEqual(state.recorded, pulls ? ['begin a:1', 'succeed a:1 sha256:a:1 undefined'] : [])
  })

test('a missing image with the policy Never is not pulled', async () => {
  const { state, failure } = managerOf()
  const message = 'Container image "a:1" is not present with pull policy of Never'
  assert.equal(await failure('a:1', 'Never'), `ErrImageNeverPull: ${message}`)
  assert.deepEqual(state.events, [`Warning ErrImageNeverPull ${message}`, 'Warning Failed Error: ErrImageNeverPull'])
})

test('a present image that needs credentials is pulled again, and with Never it counts as missing', async () => {
  const { state, ensure, failure } = managerOf()
  state.present.set('a:1', 'sha256:a:1')
  state.mustPull = true
  assert.match(await failure('a:1', 'Never'), /^ErrImageNeverPull: /)
  await ensure('a:1', 'IfNotPresent')
  assert.deepEqual(state.pulls, ['a:1'])
})

test('a name that is not valid, and an image that cannot be inspected', async () => {
  const { state, failure } = managerOf()
  const message =
    'Failed to apply default image tag "A": couldn\'t parse image name "A": ' +
    'invalid reference format: repository name (library/A) must be lowercase'
  assert.equal(await failure('A'), `InvalidImageName: ${message}`)
  assert.deepEqual(state.events, [`Warning InspectFailed ${message}`, 'Warning Failed Error: InvalidImageName'])
  state.findError = new Error('busy')
  assert.equal(await failure('a:1', 'IfNotPresent'), 'ImageInspectError: Failed to inspect image "": busy')
})

for (const [error, reason, message] of [
  [
    new GrpcError({ code: 5, details: 'no such image' }),
    'ErrImagePull',
    'rpc error: code = NotFound desc = no such image',
  ],
  [new GrpcError({ code: 2, details: 'failed' }), 'ErrImagePull', 'failed'],
  [
    new GrpcError({ code: 2, details: 'RegistryUnavailable: it is down' }),
    'RegistryUnavailable',
    'image pull failed for a because the registry is unavailable: it is down',
  ],
  [
    new GrpcError({ code: 2, details: 'SignatureValidationFailed: no signature' }),
    'SignatureValidationFailed',
    'image pull failed for a because the signature validation failed: no signature',
  ],
] as const)
  test(`a pull that fails with "${error.message}" waits for ${reason}`, async () => {
    const { state, failure } = managerOf()
    state.pull = () => Promise.reject(error)
    assert.equal(await failure('a'), `${reason}: ${message}`)
    assert.deepEqual(state.pulls, ['a:latest'])
    const text = reason === 'ErrImagePull' ? message : error.message.replace(/^.*desc = /, '')
    assert.deepEqual(state.events, [
      'Normal Pulling Pulling image "a"',
      `Warning Failed Failed to pull image "a": ${text}`,
      `Warning Failed Error: ${reason}`,
    ])
    assert.deepEqual(state.recorded, ['begin a', 'fail a'])
  })

test('a pull that has failed waits, longer each time; another pod does not', async () => {
  const { state, ensure, failure, pass } = managerOf()
  const pull = state.pull
  state.pull = () => Promise.reject(new Error('no'))
  await failure('a:1')
  state.events.length = 0
  pass(9_999)
  assert.equal(await failure('a:1'), 'ImagePullBackOff: Back-off pulling image "a:1": ErrImagePull: no')
  assert.deepEqual(state.events, [
    'Normal BackOff Back-off pulling image "a:1"',
    'Warning Failed Error: ImagePullBackOff',
  ])
  pass(1)
  assert.equal(await failure('a:1'), 'ErrImagePull: no')
  pass(19_999)
  assert.match(await failure('a:1'), /^ImagePullBackOff/)
  state.pull = pull
  await ensure('a:1', 'Always', { ...pod, metadata: { ...pod.metadata, uid: 'other' } })
})

test('each credential is tried; without success the error has all reasons', async () => {
  const { state, ensure, failure, pass } = managerOf()
  state.credentials = [
    { username: 'one', password: 'x' },
    { username: 'two', password: 'x' },
  ]
  state.pull = async (_, auth) => {
    throw new Error(`${auth?.username} is wrong`)
  }
  assert.equal(await failure('a:1'), 'ErrImagePull: [one is wrong, two is wrong]')
  pass(10_000)
  state.pull = async (_, auth) => {
    if (auth?.username === 'one') throw new Error('wrong')
  }
  await ensure('a:1')
  assert.deepEqual(state.pulls.slice(2), ['a:1 as one', 'a:1 as two'])
  assert.equal(state.recorded.at(-1), 'succeed a:1 sha256:a:1 two')
})

for (const [title, limits, running] of [
  ['serial', {}, 1],
  ['parallel', { isSerial: false }, 3],
  ['limited', { isSerial: false, maxParallel: 2 }, 2],
] as const)
  test(`${title} pulls: ${running} of 3 at a time`, async () => {
    const { state, ensure } = managerOf({ ...defaultPullLimits, ...limits })
    const ends: (() => void)[] = []
    state.pull = () => new Promise((resolve) => ends.push(resolve))
    const all = ['a:1', 'b:1', 'c:1'].map((image) => ensure(image))
    await settled()
    assert.equal(ends.length, running)
    for (let i = 0; i < 3; i++) {
      ends[i]?.()
      await settled()
    }
    await Promise.all(all)
  })

test('more pulls than allowed in a second fail', async () => {
  const { state, ensure, failure } = managerOf({ ...defaultPullLimits, perSecond: 1, burst: 2 })
  state.pull = async () => {}
  await ensure('a:1')
  await ensure('b:1')
  assert.equal(await failure('c:1'), 'ErrImagePull: pull QPS exceeded')
})

test('the pulls of a pod that ends are cancelled, running or waiting', async () => {
  const { manager, state, failure } = managerOf()
  state.pull = (_image, _auth, signal) =>
    new Promise((_, reject) => signal?.addEventListener('abort', () => reject(new Error('cancelled'))))
  const all = [failure('a:1'), failure('b:1')]
  await settled()
  manager.cancel('u')
  assert.deepEqual(await Promise.all(all), ['ErrImagePull: context canceled', 'ErrImagePull: context canceled'])
  assert.deepEqual(state.pulls, ['a:1'])
  assert.deepEqual(state.recorded, ['begin a:1', 'begin b:1', 'fail b:1', 'fail a:1'])
})
