/**
 * Tests of the conformance suite for volumes with fields of pods, alone and projected
 * (`test/e2e/common/storage/{downwardapi_volume,projected_downwardapi}.go`), on a real node.
 */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { nodes, pods } from '../../../src/client/kinds.ts'
import { wholeValue } from '../../../src/machinery/values/quantity.ts'
import { inNamespaces } from '../support/in-namespaces.ts'
import { type NewPod, TestNode } from '../support/test-node.ts'

/** The titles are upstream's `testname`, or its code name where two tests have the same. */
const titles = {
  cpuLimit: ['DownwardAPI volume, CPU limits', 'Projected Volume, DownwardAPI, CPU limits'],
  cpuRequest: ['DownwardAPI volume, CPU request', 'Projected Volume, DownwardAPI, CPU request'],
  memoryLimit: ['DownwardAPI volume, memory limits', 'Projected Volume, DownwardAPI, memory limits'],
  memoryRequest: ['DownwardAPI volume, memory request', 'Projected Volume, DownwardAPI, memory request'],
  nodeCpu: [
    'DownwardAPI volume, CPU limit, default node allocatable',
    'Projected Volume, DownwardAPI, CPU limit, node allocatable',
  ],
  nodeMemory: [
    'DownwardAPI volume, memory limit, default node allocatable',
    'Projected Volume, DownwardAPI, memory limit, node allocatable',
  ],
  name: ['DownwardAPI volume, pod name', 'Projected Volume, DownwardAPI, pod name'],
  volumeMode: ['DownwardAPI volume, volume mode 0400', 'Projected downwardAPI should set DefaultMode on files'],
  fileMode: ['DownwardAPI volume, file mode 0400', 'Projected downwardAPI should set mode on item file'],
  annotations: ['DownwardAPI volume, update annotations', 'Projected Volume, DownwardAPI, update annotation'],
  labels: ['DownwardAPI volume, update label', 'Projected Volume, DownwardAPI, update labels'],
} as const

type Title = keyof typeof titles
type Item = {
  path: string
  mode?: number
  fieldRef?: { fieldPath: string }
  resourceFieldRef?: { containerName: string; resource: string }
}

const fileOf = (fieldPath: string, more: Partial<Item> = {}): Item => ({
  path: 'file',
  fieldRef: { fieldPath },
  ...more,
})
const resourceFile = (resource: string): Item => ({
  path: 'file',
  resourceFieldRef: { containerName: 'main', resource },
})

const show = 'cat /etc/podinfo/file'

const families = [
  (item: Item, defaultMode?: number) => ({ name: 'podinfo', downwardAPI: { items: [item], defaultMode } }),
  (item: Item, defaultMode?: number) => ({
    name: 'podinfo',
    projected: { sources: [{ downwardAPI: { items: [item] } }], defaultMode },
  }),
]

const resources = { limits: { cpu: '1250m', memory: '64Mi' }, requests: { cpu: '250m', memory: '32Mi' } }

const resourceCases: readonly [title: Title, resource: string, value: string][] = [
  // A part of a core counts as one: the divisor is 1.
  ['cpuLimit', 'limits.cpu', '2'],
  ['cpuRequest', 'requests.cpu', '1'],
  ['memoryLimit', 'limits.memory', String(64 << 20)],
  ['memoryRequest', 'requests.memory', String(32 << 20)],
]

await inNamespaces(import.meta.filename, () =>
  describe('downward API', { concurrency: 6 }, () => {
    const started = TestNode.start()
    for (const [index, volumeOf] of families.entries()) familyTests(volumeOf, index, started)
  }),
)

function familyTests(volumeOf: (typeof families)[number], index: number, started: Promise<TestNode>): void {
  const define = (name: Title, run: (node: TestNode, unique: string) => Promise<void>): void => {
    test(titles[name][index]!, async () => run(await started, `${name.toLowerCase()}-${index}`))
  }
  const podWith = (
    name: string,
    item: Item,
    script: string,
    more: Partial<NewPod> = {},
    defaultMode?: number,
  ): NewPod => ({
    name,
    volumes: [volumeOf(item, defaultMode)],
    script,
    ...more,
    container: { volumeMounts: [{ name: 'podinfo', mountPath: '/etc/podinfo' }], ...more.container },
  })

  for (const [name, resource, value] of resourceCases)
    define(name, async (node, unique) => {
      const pod = await node.create(podWith(unique, resourceFile(resource), show, { container: { resources } }))
      assert.equal(await node.ended(pod), value)
    })

  for (const [name, resource] of [
    ['nodeCpu', 'cpu'],
    ['nodeMemory', 'memory'],
  ] as const)
    define(name, async (node, unique) => {
      const pod = await node.create(podWith(unique, resourceFile(`limits.${resource}`), show))
      const { status } = await node.client.get(nodes, '', 'n1')
      assert.equal(await node.ended(pod), String(wholeValue(status?.allocatable?.[resource] ?? '0')))
    })

  define('name', async (node, unique) => {
    assert.equal(await node.ended(await node.create(podWith(unique, fileOf('metadata.name'), show))), unique)
  })

  const showMode = `stat -L -c %a /etc/podinfo/file; ${show}`
  define('volumeMode', async (node, unique) => {
    const pod = await node.create(podWith(unique, fileOf('metadata.name'), showMode, {}, 0o400))
    assert.equal(await node.ended(pod), `400\n${unique}`)
  })
  define('fileMode', async (node, unique) => {
    const pod = await node.create(podWith(unique, fileOf('metadata.name', { mode: 0o400 }), showMode))
    assert.equal(await node.ended(pod), `400\n${unique}`)
  })

  for (const field of ['labels', 'annotations'] as const)
    define(field, async (node, unique) => {
      const script = `${show}; echo; until grep -q new /etc/podinfo/file; do sleep 0.1; done; ${show}`
      const pod = await node.create(podWith(unique, fileOf(`metadata.${field}`), script, { [field]: { key: 'old' } }))
      await node.outputWith(pod, 'key="old"')
      await node.client.patch(pods, 'default', unique, { metadata: { [field]: { key: 'new' } } })
      assert.deepEqual(
        (await node.ended(pod)).split('\n').filter((line) => line.startsWith('key=')),
        ['key="old"', 'key="new"'],
      )
    })
}
