import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aNode, aPod } from '../../testing/objects.fixture.ts'
import { mayHelp } from '../../testing/try-hint.fixture.ts'
import { filterWith } from '../../testing/try-plugin.fixture.ts'
import { nodeUnschedulable } from './node-unschedulable.ts'

const open = aNode('open')
const cordoned = aNode('cordoned', { spec: { unschedulable: true } })
const key = 'node.kubernetes.io/unschedulable'

test('cordoned nodes are rejected unless the pod tolerates the taint', () => {
  const cases: [string, object[] | undefined, string][] = [
    ['no tolerations', undefined, 'node(s) were unschedulable'],
    ['of the taint', [{ key, operator: 'Exists' }], ''],
    ['of everything', [{ operator: 'Exists' }], ''],
    ['of another effect', [{ key, operator: 'Exists', effect: 'NoExecute' }], 'node(s) were unschedulable'],
  ]
  for (const [title, tolerations, expected] of cases)
    assert.deepEqual(
      filterWith(nodeUnschedulable, aPod('p', { tolerations }), { nodes: [open, cordoned] }),
      { open: '', cordoned: expected },
      title,
    )
})

test('hints: an uncordoned node, and a toleration, may help', () => {
  const pod = aPod('p')
  const tolerant = aPod('p', { tolerations: [{ key, operator: 'Exists' }] })
  assert.equal(mayHelp(nodeUnschedulable, pod, { resource: 'Node', action: 'Add', after: open }), true)
  assert.equal(mayHelp(nodeUnschedulable, pod, { resource: 'Node', action: 'Add', after: cordoned }), false)
  assert.equal(
    mayHelp(nodeUnschedulable, pod, { resource: 'Node', action: 'UpdateTaint', before: cordoned, after: open }),
    true,
  )
  assert.equal(
    mayHelp(nodeUnschedulable, pod, { resource: 'Node', action: 'UpdateTaint', before: open, after: open }),
    false,
  )
  assert.equal(
    mayHelp(nodeUnschedulable, pod, { resource: 'Node', action: 'UpdateLabel', before: cordoned, after: open }),
    false,
  )
  assert.equal(
    mayHelp(nodeUnschedulable, pod, { resource: 'Pod', action: 'UpdateToleration', before: pod, after: tolerant }),
    true,
  )
  assert.equal(
    mayHelp(nodeUnschedulable, aPod('other'), {
      resource: 'Pod',
      action: 'UpdateToleration',
      before: pod,
      after: tolerant,
    }),
    false,
  )
})
