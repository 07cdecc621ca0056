/**
 * Features of the runtime's handlers: pods with users of their own, and what the node reports. containerd 1.6 has no
 * such features, so that a proxy before it claims them and records what the kubelet requests. The embedded runtime
 * maps the users that containerd ignores, which its own tests show.
 */
import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { create } from '@bufbuild/protobuf'
import { RuntimeFeaturesSchema, RuntimeHandlerSchema } from '#protobuf/cri-runtime_pb.js'
import { NamespaceMode } from '#protobuf/cri-values_pb.js'
import { nodes, type Pod, runtimeClasses } from '../../src/client/kinds.ts'
import { waitFor } from '../support/wait-for.ts'
import { inNamespaces } from './support/in-namespaces.ts'
import { CriProxy } from './support/runtimes/cri-proxy.ts'
import { usesEmbeddedRuntime } from './support/runtimes/node-runtime.ts'
import { TestNode } from './support/test-node.ts'

const features = { recursiveReadOnlyMounts: true, userNamespaces: true }
const unit = 65_536

/** The kubelet's requests, as the proxy has recorded them. */
function requestsTo(node: TestNode, proxy: CriProxy) {
  /** The request that started a pod's sandbox. */
  const sandboxOf = ({ metadata: { uid } }: Pod) =>
    proxy.requests('runPodSandbox').find(({ config }) => config?.metadata?.uid === uid)?.config
  const usersOf = (pod: Pod) => sandboxOf(pod)?.linux?.securityContext?.namespaceOptions?.usernsOptions
  const recordOf = (pod: Pod): string => join(node.podFolder(pod), 'userns')
  return { sandboxOf, usersOf, recordOf }
}

function defineReportTests(node: TestNode, proxy: CriProxy): void {
  const { usersOf } = requestsTo(node, proxy)

  test('the node reports the features of the runtime and of its handlers', async () => {
    const { status } = await node.client.get(nodes, '', 'n1')
    assert.deepEqual(status?.runtimeHandlers, [
      { name: '', features },
      { name: 'bare', features: { recursiveReadOnlyMounts: false, userNamespaces: false } },
    ])
    assert.deepEqual(status?.features, { supplementalGroupsPolicy: true })
  })

  test('a pod without hostUsers has the users of the node, and the paths of /proc masked', async () => {
    const pod = await node.create({ name: 'usual' })
    await node.ended(pod)
    assert.equal(usersOf(pod)?.mode, NamespaceMode.NODE)
    assert.deepEqual(usersOf(pod)?.uids, [])
    const container = proxy.requests('createContainer').find(({ config }) => config?.metadata?.name === 'main')
    assert.ok(container?.config?.linux?.securityContext?.maskedPaths.includes('/proc/kcore'))
    assert.ok(container?.config?.mounts.every(({ uidMappings }) => uidMappings.length === 0))
  })
}

function defineUserTests(node: TestNode, proxy: CriProxy, startKubelet: () => Promise<void>): void {
  const { usersOf, recordOf } = requestsTo(node, proxy)

  const skip = usesEmbeddedRuntime() && 'the embedded runtime maps users: test/runtime shows it'
  test('pods with users of their own have IDs that no other pod has, also after a restart', { skip }, async () => {
    const spec = {
      hostUsers: false,
      volumes: [{ name: 'data', emptyDir: {} }],
      script: 'sleep 3600',
      container: {
        volumeMounts: [{ name: 'data', mountPath: '/data', readOnly: true, recursiveReadOnly: 'Enabled' }],
        securityContext: { procMount: 'Unmasked' },
      },
    }
    const first = await node.running(await node.create({ name: 'first', ...spec }))
    const mapping = { hostId: unit, containerId: 0, length: unit }
    const record = { uidMappings: [mapping], gidMappings: [mapping] }
    assert.deepEqual(JSON.parse(readFileSync(recordOf(first), 'utf8')), record)
    const users = usersOf(first)
    assert.equal(users?.mode, NamespaceMode.POD)
    assert.partialDeepStrictEqual(users, { uids: [mapping], gids: [mapping] })
    const request = proxy
      .requests('createContainer')
      .find(({ sandboxConfig }) => sandboxConfig?.metadata?.uid === first.metadata.uid)
    const { mounts = [], linux } = request?.config ?? {}
    assert.deepEqual(mounts.map(({ containerPath }) => containerPath).sort(), [
      '/data',
      '/dev/termination-log',
      '/etc/hosts',
    ])
    for (const mount of mounts) assert.partialDeepStrictEqual(mount, record)
    assert.ok(mounts.some(({ recursiveReadOnly }) => recursiveReadOnly))
    assert.partialDeepStrictEqual(linux?.securityContext?.namespaceOptions?.usernsOptions, users)
    assert.deepEqual(linux?.securityContext?.maskedPaths, [])
    assert.deepEqual(linux?.securityContext?.readonlyPaths, [])
    await node.stopKubelet()
    await startKubelet()
    const second = await node.running(await node.create({ name: 'second', ...spec }))
    assert.equal(usersOf(second)?.uids[0]?.hostId, 2 * unit)
    await node.deleted(second)
    await waitFor('the IDs are free', () => !existsSync(recordOf(second)))
    assert.ok(existsSync(recordOf(first)))
  })
}

function defineRefusalTests(node: TestNode, proxy: CriProxy): void {
  const { sandboxOf, recordOf } = requestsTo(node, proxy)

  test('a handler without user namespaces runs no pod that needs one', async () => {
    await node.client.create(runtimeClasses, {
      apiVersion: 'node.k8s.io/v1',
      kind: 'RuntimeClass',
      metadata: { name: 'bare' },
      handler: 'bare',
    })
    const pod = await node.create({ name: 'refused', hostUsers: false, runtimeClassName: 'bare' })
    const [message] = await waitFor('an event', async () => {
      const messages = await node.messages(pod, 'FailedCreatePodSandBox')
      return messages.length > 0 && messages
    })
    assert.equal(
      message,
      "Failed to create pod sandbox: can't set `spec.hostUsers: false`, " +
        'RuntimeClass handler "bare" does not support user namespaces',
    )
    assert.equal(sandboxOf(pod), undefined)
    assert.ok(!existsSync(recordOf(pod)))
  })
}

await inNamespaces(import.meta.filename, () =>
  describe('handlers of the runtime', async () => {
    const node = await TestNode.start()
    const proxy = await CriProxy.start(node.runtime.endpoint, (status) => {
      status.runtimeHandlers = [
        create(RuntimeHandlerSchema, { name: '', features }),
        create(RuntimeHandlerSchema, { name: 'bare' }),
      ]
      status.features = create(RuntimeFeaturesSchema, { supplementalGroupsPolicy: true })
    })
    after(() => proxy.stop())
    const startKubelet = (): Promise<void> => node.startKubelet({ containerRuntimeEndpoint: proxy.endpoint })
    await node.stopKubelet()
    await startKubelet()
    defineReportTests(node, proxy)
    defineUserTests(node, proxy, startKubelet)
    defineRefusalTests(node, proxy)
  }),
)
