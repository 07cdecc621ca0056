import assert from 'node:assert/strict'
import { test } from 'node:test'
import { nodes as nodeDefinition } from '../../../../api/core/cluster/node.ts'
import { ServedResource } from '../../../registry/served-resource.ts'
import { admitted, pods, runStep, writeOf } from '../pod.fixture.ts'
import { defaultTolerationSeconds } from './default-toleration-seconds.ts'
import { extendedResourceToleration } from './extended-resource-toleration.ts'
import { limitPodHardAntiAffinityTopology } from './limit-pod-hard-anti-affinity-topology.ts'
import { taintNodesByCondition } from './taint-nodes-by-condition.ts'

const exists = (key: string, effect: string) => ({ key, operator: 'Exists', effect })

test('DefaultTolerationSeconds adds missing tolerations, also on updates', () => {
  const plugin = defaultTolerationSeconds(pods, { notReady: 7 })
  const added = [
    { ...exists('node.kubernetes.io/not-ready', 'NoExecute'), tolerationSeconds: 7 },
    { ...exists('node.kubernetes.io/unreachable', 'NoExecute'), tolerationSeconds: 300 },
  ]
  assert.deepEqual(admitted(plugin, {}).tolerations, added)
  assert.deepEqual(admitted(plugin, {}, { operation: 'UPDATE' }).tolerations, added)
  assert.deepEqual(admitted(plugin, { tolerations: [{ operator: 'Exists' }] }).tolerations, [{ operator: 'Exists' }])
  assert.equal(admitted(plugin, {}, { subresource: 'status', operation: 'UPDATE' }).tolerations, undefined)
})

test('ExtendedResourceToleration adds one toleration for each requested device', () => {
  const plugin = extendedResourceToleration(pods)
  const asking = (...names: string[]) => ({
    name: 'c',
    resources: { requests: Object.fromEntries(names.map((name) => [name, '1'])) },
  })
  const spec = {
    containers: [asking('z.com/b', 'cpu', 'kubernetes.io/x')],
    initContainers: [asking('a.com/d', 'z.com/b', 'hugepages-2Mi')],
  }
  const expected = [exists('a.com/d', 'NoSchedule'), exists('z.com/b', 'NoSchedule')]
  assert.deepEqual(admitted(plugin, spec).tolerations, expected)
  assert.deepEqual(admitted(plugin, { ...spec, tolerations: expected }).tolerations, expected)
  assert.equal(admitted(plugin, {}).tolerations, undefined)
})

test('LimitPodHardAntiAffinityTopology allows only the hostname as topology key', () => {
  const plugin = limitPodHardAntiAffinityTopology(pods)
  const spec = (topologyKey: string) => ({
    affinity: { podAntiAffinity: { requiredDuringSchedulingIgnoredDuringExecution: [{ topologyKey }] } },
  })
  assert.doesNotThrow(() => admitted(plugin, spec('kubernetes.io/hostname')))
  assert.throws(() => admitted(plugin, spec('zone')), {
    message:
      'pods "p" is forbidden: affinity.PodAntiAffinity.RequiredDuringScheduling has TopologyKey zone but only ' +
      'key kubernetes.io/hostname is allowed',
  })
})

test('TaintNodesByCondition adds the not-ready taint to a new node once', () => {
  const nodes = new ServedResource(nodeDefinition)
  const plugin = taintNodesByCondition(nodes)
  const taint = { key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }
  const tainted = (spec?: object) => {
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n' }, spec }
    runStep(plugin.mutate, writeOf(node, { resource: nodes, namespace: '' }))
    return (node.spec as { taints?: object[] } | undefined)?.taints
  }
  assert.deepEqual(tainted(), [taint])
  assert.deepEqual(tainted({ taints: [{ key: 'a', effect: 'NoExecute' }] }), [{ key: 'a', effect: 'NoExecute' }, taint])
  assert.deepEqual(tainted({ taints: [taint] }), [taint])
})
