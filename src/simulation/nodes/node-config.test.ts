import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseNodeConfig } from './node-config.ts'
import { planNodes } from './node-shape.ts'

const head = 'apiVersion: simulation.typernetes.io/v1alpha1\nkind: SimulatedNodes\n'

test('nodes are planned from groups with a count and the group without', () => {
  const groups = parseNodeConfig(`${head}groups:
- capacity: { cpu: 8 }
  zones: [west/a, b]
- name: gpu
  count: 1
  capacity: { example.com/gpu: "4" }
  taints: [{ key: gpu, effect: NoSchedule }]
  pods: { start-delay: 1s-2s }
`)
  const planned = planNodes(groups, 4)
  assert.deepEqual(
    planned.map(({ name, shape }) => [name, shape.capacity.cpu, shape.labels?.['topology.kubernetes.io/zone']]),
    [
      ['node-1', '8', 'a'],
      ['node-2', '8', 'b'],
      ['node-3', '8', 'a'],
      ['gpu-1', '4', undefined],
    ],
  )
  assert.equal(planned[3]?.shape.capacity['example.com/gpu'], '4')
})

test('a configuration is rejected with all of its errors', () => {
  assert.throws(
    () => parseNodeConfig(`${head}groups: [{ name: A, capacity: { cpu: much } }, { count: 1, pods: { fun: x } }]`),
    /\[0\]\.name: "A" must .*\[0\]\.capacity\.cpu: "much" is not a quantity.*\[1\]\.pods: "fun" must be one of/,
  )
  assert.throws(() => parseNodeConfig(`${head}group: []`), /unknown field "group"/)
  assert.throws(() => parseNodeConfig('kind: Other\napiVersion: v1'), /no kind "Other"/)
})
