/** Images of pods on a container runtime, from a registry in its network namespace. Needs root. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, suite, test } from 'node:test'
import type { Pod, Secret } from '../../src/client/kinds.ts'
import { PodEvents } from '../../src/kubelet/containers/container-events.ts'
import { StartError } from '../../src/kubelet/containers/start-container.ts'
import { CriImages } from '../../src/kubelet/cri/images.ts'
import { CriRuntime } from '../../src/kubelet/cri/runtime.ts'
import { defaultCollectorPolicy } from '../../src/kubelet/images/collection/image-collector.ts'
import { sandboxImageOf } from '../../src/kubelet/images/collection/sandbox-image.ts'
import { ImageService } from '../../src/kubelet/images/image-service.ts'
import { verificationPolicy } from '../../src/kubelet/images/records/verification-policy.ts'
import { type Registry, registryHost, registryLogin, startRegistry } from './support/registry.ts'
import { type NodeRuntime, startNodeRuntime } from './support/runtimes/node-runtime.ts'
import { images as offline } from './support/runtimes/test-images.ts'

const skip = process.getuid?.() === 0 ? false : 'needs root'

const login: Secret = {
  apiVersion: 'v1',
  kind: 'Secret',
  metadata: { name: 'login', namespace: 'default', uid: 's' },
  type: 'kubernetes.io/dockerconfigjson',
  data: {
    '.dockerconfigjson': Buffer.from(JSON.stringify({ auths: { [registryHost]: registryLogin } })).toString('base64'),
  },
}

const podOf = (uid: string, secrets: readonly string[] = []): Pod =>
  ({
    metadata: { name: uid, namespace: 'default', uid },
    spec: { containers: [{ name: 'c' }], imagePullSecrets: secrets.map((name) => ({ name })) },
  }) as Pod

suite('images on a real node', { skip }, () => {
  let nodeRuntime: NodeRuntime
  let registry: Registry
  let images: CriImages
  let runtime: CriRuntime
  let service: ImageService
  const events: string[] = []
  const root = mkdtempSync(join(tmpdir(), 't8s-images-'))
  const podEvents = new PodEvents(
    { record: (_, type, reason, message) => void events.push(`${type} ${reason} ${message}`) },
    'n',
  )

  const start = (): Promise<ImageService> =>
    ImageService.start({
      images,
      runtime,
      events: podEvents,
      root,
      limits: { isSerial: true, perSecond: 0, burst: 0 },
      verification: verificationPolicy('NeverVerifyPreloadedImages'),
      collection: { ...defaultCollectorPolicy, minAgeMs: 0 },
      maxNodeImages: 50,
      providers: [],
      providerFolder: '',
      environment: {},
      workingFolder: root,
      log: () => {},
      now: Date.now,
      schedule: () => () => {},
      secret: async (_, name) => (name === 'login' ? login : undefined),
      record: (reason, message) => void events.push(`node ${reason} ${message}`),
      countRemoved: () => {},
    })

  const ensure = (pod: Pod, image: string, imagePullPolicy = 'IfNotPresent') => {
    events.length = 0
    return service.ensure(pod, { name: 'c', image, imagePullPolicy }, {})
  }

  before(async () => {
    nodeRuntime = await startNodeRuntime()
    registry = await startRegistry(nodeRuntime, ['app:1', 'app:latest', 'private/app:1'])
    images = new CriImages(nodeRuntime.endpoint)
    runtime = new CriRuntime(nodeRuntime.endpoint)
    service = await start()
  })

  after(async () => {
    service?.stop()
    images?.close()
    runtime?.close()
    registry?.stop()
    await nodeRuntime?.stop()
    rmSync(root, { recursive: true })
  })

  test('an image without a tag is pulled as latest, and then it is present', async () => {
    const present = await ensure(podOf('a'), `${registryHost}/app`)
    assert.match(present.id, /^sha256:/)
    assert.equal(present.user.uid, 1000n)
    assert.equal(events[0], `Normal Pulling Pulling image "${registryHost}/app"`)
    const [, duration = ''] = events[1]!.split(`Normal Pulled Successfully pulled image "${registryHost}/app" in `)
    assert.match(duration, /^\S+ \(\S+ including waiting\)\. Image size: \d+ bytes\.$/)
    const pulled = registry.requests.length
    await ensure(podOf('b'), `${registryHost}/app`)
    assert.deepEqual(events, [
      `Normal Pulled Container image "${registryHost}/app" already present on machine and can be accessed by the pod`,
    ])
    assert.equal(registry.requests.length, pulled)
  })

  test('an image that does not exist waits for ErrImagePull, then for ImagePullBackOff', async () => {
    const image = `${registryHost}/app:missing`
    const failure = async (): Promise<StartError> => {
      const error = await ensure(podOf('a'), image).then(
        () => undefined,
        (reason: unknown) => reason,
      )
      assert.ok(error instanceof StartError)
      return error
    }
    const first = await failure()
    assert.equal(first.reason, 'ErrImagePull')
    assert.match(first.message, /^rpc error: code = NotFound desc = failed to pull .*: (not found|manifest unknown.*)$/)
    assert.equal(events.at(-1), 'Warning Failed Error: ErrImagePull')
    const second = await failure()
    assert.equal(second.reason, 'ImagePullBackOff')
    assert.equal(second.message, `Back-off pulling image "${image}": ErrImagePull: ${first.message}`)
  })

  test('a private image is for pods with its credentials only, also after a restart', async () => {
    const image = `${registryHost}/private/app:1`
    await assert.rejects(ensure(podOf('stranger'), image), { reason: 'ErrImagePull' })
    await ensure(podOf('owner', ['login']), image)
    service.stop()
    service = await start()
    const before = registry.requests.length
    await ensure(podOf('another', ['login']), image)
    assert.equal(registry.requests.length, before)
    await assert.rejects(ensure(podOf('stranger2'), image), { reason: 'ErrImagePull' })
    await assert.rejects(ensure(podOf('stranger3'), image, 'Never'), { reason: 'ErrImageNeverPull' })
  })

  test('an image that was there before the kubelet is for all pods', async () => {
    await ensure(podOf('a'), offline.busybox, 'Never')
  })

  test("the node's status lists the images; unused ones are removed, that of sandboxes is not", async () => {
    // The embedded runtime needs no image for sandboxes.
    const ofSandboxes = nodeRuntime.name === 'containerd' ? offline.pause : undefined
    assert.equal(await sandboxImageOf(runtime), ofSandboxes)
    const listed = (await service.forStatus()).flatMap(({ names = [] }) => names)
    assert.ok(listed.includes(offline.busybox) && listed.includes(`${registryHost}/app:latest`))
    await service.removeUnused()
    const left = (await images.all()).flatMap(({ repoTags }) => repoTags)
    assert.deepEqual(left, ofSandboxes ? [ofSandboxes] : [])
  })
})
