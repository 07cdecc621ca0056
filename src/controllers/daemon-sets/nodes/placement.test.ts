import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DaemonSet, Node } from '../../../client/kinds.ts'
import { aNode, aSet } from '../set.fixture.ts'
import { placementOf } from './placement.ts'
import { daemonTolerations } from './tolerations.ts'

type PodSpec = Partial<NonNullable<DaemonSet['spec']>['template']['spec']>

const tainted = (...taints: readonly [string, string, string?][]): Node =>
  aNode(
    'n',
    { disk: 'ssd', cores: '8' },
    { taints: taints.map(([key, effect, value]) => ({ key, effect, ...(value && { value }) })) },
  )
const placement = (pod: PodSpec, node: Node): string => {
  const { runs, stays } = placementOf(aSet(undefined, pod))(node)
  return runs ? 'runs' : stays ? 'stays' : 'neither'
}

test('a node is eligible if selectors, affinity and taints allow it', () => {
  const required = (...nodeSelectorTerms: readonly object[]) =>
    ({
      affinity: { nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } } },
    }) as PodSpec
  const expression = (key: string, operator: string, ...values: string[]) => ({
    matchExpressions: [{ key, operator, values }],
  })
  const plain = tainted()
  const cases: [string, PodSpec, Node, string][] = [
    ['no constraints', {}, plain, 'runs'],
    ['the selector', { nodeSelector: { disk: 'ssd' } }, plain, 'runs'],
    ['another selector', { nodeSelector: { disk: 'hdd' } }, plain, 'neither'],
    ['the node by name', { nodeName: 'n' }, plain, 'runs'],
    ['another node by name', { nodeName: 'm' }, plain, 'neither'],
    ['In', required(expression('disk', 'In', 'ssd', 'hdd')), plain, 'runs'],
    ['NotIn', required(expression('disk', 'NotIn', 'ssd')), plain, 'neither'],
    ['NotIn of a missing label', required(expression('x', 'NotIn', 'y')), plain, 'runs'],
    ['Exists', required(expression('disk', 'Exists')), plain, 'runs'],
    ['DoesNotExist', required(expression('disk', 'DoesNotExist')), plain, 'neither'],
    ['Gt', required(expression('cores', 'Gt', '7')), plain, 'runs'],
    ['Lt', required(expression('cores', 'Lt', '8')), plain, 'neither'],
    ['one of several terms', required(expression('disk', 'In', 'hdd'), expression('cores', 'Exists')), plain, 'runs'],
    ['an empty term', required({}), plain, 'neither'],
    ['no terms', required(), plain, 'neither'],
    ['a field', required({ matchFields: [{ key: 'metadata.name', operator: 'In', values: ['n'] }] }), plain, 'runs'],
    [
      'another field',
      required({ matchFields: [{ key: 'metadata.name', operator: 'NotIn', values: ['n'] }] }),
      plain,
      'neither',
    ],
    ['a taint', {}, tainted(['a', 'NoSchedule']), 'stays'],
    ['a NoExecute taint', {}, tainted(['a', 'NoExecute']), 'neither'],
    ['a PreferNoSchedule taint', {}, tainted(['a', 'PreferNoSchedule']), 'runs'],
    ['a tolerated taint', { tolerations: [{ key: 'a', operator: 'Exists' }] }, tainted(['a', 'NoExecute']), 'runs'],
    ['a cordoned node', {}, tainted(['node.kubernetes.io/unschedulable', 'NoSchedule']), 'runs'],
    ['a node that is not ready', {}, tainted(['node.kubernetes.io/not-ready', 'NoExecute']), 'runs'],
    ['a node that was never ready', {}, tainted(['node.kubernetes.io/not-ready', 'NoSchedule']), 'stays'],
    ['a node under pressure', {}, tainted(['node.kubernetes.io/memory-pressure', 'NoSchedule']), 'runs'],
    ['a node without a network', {}, tainted(['node.kubernetes.io/network-unavailable', 'NoSchedule']), 'stays'],
    [
      'a node without a network, with hostNetwork',
      { hostNetwork: true },
      tainted(['node.kubernetes.io/network-unavailable', 'NoSchedule']),
      'runs',
    ],
  ]
  for (const [title, pod, node, expected] of cases) assert.equal(placement(pod, node), expected, title)
  assert.deepEqual(placementOf(aSet())(undefined), { runs: false, stays: false })
})

test('daemon tolerations are not duplicated', () => {
  const given = { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute' }
  const all = daemonTolerations({ tolerations: [given] })
  assert.equal(all.length, 6)
  assert.deepEqual(daemonTolerations({ tolerations: all }), all)
})
