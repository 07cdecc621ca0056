/** Tests of the conformance suite for environments and commands (`test/e2e/common/node`), on a real node. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { configMaps, nodes, type Pod, secrets } from '../../../src/client/kinds.ts'
import type { Container } from '../../../src/kubelet/pod-types.ts'
import { wholeValue } from '../../../src/machinery/values/quantity.ts'
import { inNamespaces } from '../support/in-namespaces.ts'
import { images } from '../support/runtimes/test-images.ts'
import { TestNode } from '../support/test-node.ts'

interface Case {
  /** Upstream's `testname`. */
  readonly title: string
  readonly container: Partial<Container>
  /** The lines of the output. */
  readonly prints: (pod: Pod) => readonly string[]
}

const print = (...names: string[]): Partial<Container> => ({
  command: ['sh', '-c', names.map((name) => `echo "$${name}"`).join('; ')],
})

const field = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } })
const resource = (name: string, of: string) => ({ name, valueFrom: { resourceFieldRef: { resource: of } } })
const resourceVariables = [
  resource('CPU_LIMIT', 'limits.cpu'),
  resource('MEMORY_LIMIT', 'limits.memory'),
  resource('CPU_REQUEST', 'requests.cpu'),
  resource('MEMORY_REQUEST', 'requests.memory'),
]
const resourceNames = resourceVariables.map(({ name }) => name)

const cases: readonly Case[] = [
  {
    title: 'ConfigMap, from environment field',
    container: {
      ...print('COLOR'),
      env: [{ name: 'COLOR', valueFrom: { configMapKeyRef: { name: 'settings', key: 'color' } } }],
    },
    prints: () => ['red'],
  },
  {
    title: 'ConfigMap, from environment variables',
    container: { ...print('color', 'size'), envFrom: [{ configMapRef: { name: 'settings' } }] },
    prints: () => ['red', 'large'],
  },
  {
    title: 'ConfigMap, from environment field with various prefixes',
    container: {
      ...print('A_color', 'B_size'),
      envFrom: [
        { prefix: 'A_', configMapRef: { name: 'settings' } },
        { prefix: 'B_', configMapRef: { name: 'settings' } },
      ],
    },
    prints: () => ['red', 'large'],
  },
  {
    title: 'Secrets, pod environment field',
    container: {
      ...print('KEY'),
      env: [{ name: 'KEY', valueFrom: { secretKeyRef: { name: 'keys', key: 'key' } } }],
    },
    prints: () => ['hidden'],
  },
  {
    title: 'Secrets should be consumable via the environment',
    container: { ...print('key'), envFrom: [{ secretRef: { name: 'keys' } }] },
    prints: () => ['hidden'],
  },
  {
    title: 'Secrets should be consumable as environment variable names variable names with various prefixes',
    container: {
      ...print('A_key', 'P_key'),
      envFrom: ['A_', 'P_'].map((prefix) => ({ prefix, secretRef: { name: 'keys' } })),
    },
    prints: () => ['hidden', 'hidden'],
  },
  {
    title: 'DownwardAPI, environment for name, namespace and ip',
    container: {
      ...print('NAME', 'NAMESPACE', 'IP'),
      env: [field('NAME', 'metadata.name'), field('NAMESPACE', 'metadata.namespace'), field('IP', 'status.podIP')],
    },
    prints: ({ metadata, status }) => [metadata.name ?? '', metadata.namespace ?? '', status?.podIP ?? ''],
  },
  {
    title: 'DownwardAPI, environment for host ip',
    container: { ...print('HOST'), env: [field('HOST', 'status.hostIP')] },
    prints: ({ status }) => [status?.hostIP ?? ''],
  },
  {
    title: 'DownwardAPI, environment for hostIPs',
    container: { ...print('HOSTS'), env: [field('HOSTS', 'status.hostIPs')] },
    prints: ({ status }) => [(status?.hostIPs ?? []).map(({ ip }) => ip).join(',')],
  },
  {
    title: 'DownwardAPI, environment for Pod UID',
    container: { ...print('POD_UID'), env: [field('POD_UID', 'metadata.uid')] },
    prints: ({ metadata }) => [metadata.uid ?? ''],
  },
  {
    title: 'DownwardAPI, environment for CPU and memory limits and requests',
    container: {
      ...print(...resourceNames),
      env: resourceVariables,
      resources: { requests: { cpu: '250m', memory: '32Mi' }, limits: { cpu: '1250m', memory: '64Mi' } },
    },
    prints: () => ['2', '67108864', '1', '33554432'],
  },
  {
    title: 'Environment variables, expansion',
    container: {
      ...print('FOOBAR'),
      env: [
        { name: 'FOO', value: 'foo-value' },
        { name: 'BAR', value: 'bar-value' },
        { name: 'FOOBAR', value: '$(FOO);;$(BAR)' },
      ],
    },
    prints: () => ['foo-value;;bar-value'],
  },
  {
    title: 'Environment variables, command expansion',
    container: {
      command: ['sh', '-c', 'TEST_VAR=wrong echo "$(TEST_VAR)"'],
      env: [{ name: 'TEST_VAR', value: 'test-value' }],
    },
    prints: () => ['test-value'],
  },
  {
    title: 'Environment variables, command argument expansion',
    container: {
      command: ['sh', '-c'],
      args: ['TEST_VAR=wrong echo "$(TEST_VAR)"'],
      env: [{ name: 'TEST_VAR', value: 'test-value' }],
    },
    prints: () => ['test-value'],
  },
  {
    title: 'Containers, with arguments',
    container: { command: undefined, args: ['echo', 'override', 'arguments'] },
    prints: () => ['override arguments'],
  },
  {
    title: 'Containers, with command',
    container: { command: ['echo', 'command'] },
    prints: () => ['command'],
  },
  {
    title: 'Containers, with command and arguments',
    container: { command: ['echo', 'command'], args: ['override', 'arguments'] },
    prints: () => ['command override arguments'],
  },
  {
    title: 'Containers, without command and arguments',
    container: { command: undefined },
    prints: () => [''],
  },
  {
    title: 'Security Context, runAsUser=65534',
    container: { command: ['id', '-u'], securityContext: { runAsUser: 65534 } },
    prints: () => ['65534'],
  },
  {
    title: 'Security Context, test RunAsGroup at container level',
    container: { command: ['sh', '-c', 'id -u; id -g'], securityContext: { runAsUser: 1001, runAsGroup: 2002 } },
    prints: () => ['1001', '2002'],
  },
  {
    title: 'Security Context, readOnlyRootFilesystem=false.',
    container: {
      command: ['sh', '-c', 'echo text > /file; cat /file'],
      securityContext: { readOnlyRootFilesystem: false },
    },
    prints: () => ['text'],
  },
  {
    title: 'Kubelet, pod with read only root file system',
    container: {
      command: ['sh', '-c', 'echo text 2>/dev/null > /file || echo refused'],
      securityContext: { readOnlyRootFilesystem: true },
    },
    prints: () => ['refused'],
  },
]

await inNamespaces(import.meta.filename, () =>
  describe('environments and commands', { concurrency: 6 }, async () => {
    const started = start()

    for (const [index, { title, container, prints }] of cases.entries())
      test(title, async () => {
        const node = await started
        const pod = await node.create({
          name: `environment-${index}`,
          container: { image: images.busybox, ...container },
        })
        const output = await node.ended(pod)
        assert.deepEqual(output.split('\n'), prints(await node.read(pod)))
      })

    test('DownwardAPI, environment for default CPU and memory limits and requests', async () => {
      const node = await started
      const env = [resource('CPU_LIMIT', 'limits.cpu'), resource('MEMORY_LIMIT', 'limits.memory')]
      const container = { ...print('CPU_LIMIT', 'MEMORY_LIMIT'), env }
      const output = await node.ended(await node.create({ name: 'environment-defaults', container }))
      const { allocatable = {} } = (await node.client.get(nodes, '', 'n1')).status ?? {}
      assert.deepEqual(output.split('\n'), [allocatable.cpu, `${wholeValue(String(allocatable.memory))}`])
    })

    for (const { title, kind, resource } of [
      { title: 'ConfigMap, with empty-key', kind: 'ConfigMap', resource: configMaps },
      { title: 'Secrets, with empty-key', kind: 'Secret', resource: secrets },
    ] as const)
      test(title, async () => {
        const { client } = await started
        const object = {
          apiVersion: 'v1',
          kind,
          metadata: { namespace: 'default', name: 'empty' },
          data: { '': 'dmFsdWU=' },
        }
        await assert.rejects(client.create(resource, object), { code: 422 })
      })
  }),
)

async function start(): Promise<TestNode> {
  const node = await TestNode.start()
  const metadata = { namespace: 'default' }
  const data = { color: 'red', size: 'large' }
  await node.client.create(configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { ...metadata, name: 'settings' },
    data,
  })
  const key = Buffer.from('hidden').toString('base64')
  await node.client.create(secrets, {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { ...metadata, name: 'keys' },
    data: { key },
  })
  return node
}
