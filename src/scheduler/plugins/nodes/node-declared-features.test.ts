import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../../../client/kinds.ts'
import { aNode, aPod } from '../../testing/objects.fixture.ts'
import { mayHelp } from '../../testing/try-hint.fixture.ts'
import { filterWith } from '../../testing/try-plugin.fixture.ts'
import { nodeDeclaredFeatures } from './node-declared-features.ts'

const missing = "node(s) didn't match Pod's required features"
const declares = (name: string, ...declaredFeatures: string[]) => aNode(name, { status: { declaredFeatures } })
const restart = [
  {
    name: 'c',
    image: 'i',
    restartPolicyRules: [{ action: 'RestartAllContainers', exitCodes: { operator: 'In', values: [1] } }],
  },
]

test('pods that need a feature fit on nodes that declare it', () => {
  const nodes = [
    aNode('none'),
    declares('restarts', 'RestartAllContainersOnContainerExits'),
    declares('users', 'UserNamespacesHostNetworkSupport'),
  ]
  const cases: [string, Partial<NonNullable<Pod['spec']>>, string[]][] = [
    ['needs no feature', {}, ['', '', '']],
    ['a container restarts all', { containers: restart }, [missing, '', missing]],
    ['an init container restarts all', { initContainers: restart }, [missing, '', missing]],
    ['user namespaces on the network of the node', { hostNetwork: true, hostUsers: false }, [missing, missing, '']],
    ['both', { containers: restart, hostNetwork: true, hostUsers: false }, [missing, missing, missing]],
    ['user namespaces', { hostUsers: false }, ['', '', '']],
  ]
  for (const [title, spec, expected] of cases)
    assert.deepEqual(Object.values(filterWith(nodeDeclaredFeatures, aPod('p', spec), { nodes })), expected, title)
})

test('hints: a node that begins to declare the feature may help', () => {
  const pod = aPod('p', { containers: restart })
  const able = declares('n', 'RestartAllContainersOnContainerExits')
  assert.equal(mayHelp(nodeDeclaredFeatures, pod, { resource: 'Node', action: 'Add', after: able }), true)
  assert.equal(mayHelp(nodeDeclaredFeatures, pod, { resource: 'Node', action: 'Add', after: aNode('n') }), false)
  assert.equal(
    mayHelp(nodeDeclaredFeatures, pod, {
      resource: 'Node',
      action: 'UpdateDeclaredFeature',
      before: aNode('n'),
      after: able,
    }),
    true,
  )
  assert.equal(
    mayHelp(nodeDeclaredFeatures, pod, {
      resource: 'Node',
      action: 'UpdateDeclaredFeature',
      before: able,
      after: able,
    }),
    false,
  )
  assert.equal(
    mayHelp(nodeDeclaredFeatures, pod, { resource: 'Pod', action: 'Update', before: pod, after: aPod('p') }),
    true,
  )
  assert.equal(
    mayHelp(nodeDeclaredFeatures, pod, { resource: 'Pod', action: 'Update', before: pod, after: pod }),
    false,
  )
})
