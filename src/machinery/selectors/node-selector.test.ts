import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type NodeSelectorTerm, nodeSelectorOf, requiredNodes } from './node-selector.ts'

const node = { metadata: { name: 'n', labels: { disk: 'ssd', cores: '8', word: 'x' } } }
const expression = (key: string, operator: string, ...values: string[]): NodeSelectorTerm => ({
  matchExpressions: [{ key, operator, values }],
})
const field = (operator: string, ...values: string[]): NodeSelectorTerm => ({
  matchFields: [{ key: 'metadata.name', operator, values }],
})

test('terms match labels and the name of a node', () => {
  const cases: [string, NodeSelectorTerm[], boolean][] = [
    ['In', [expression('disk', 'In', 'ssd', 'hdd')], true],
    ['In another', [expression('disk', 'In', 'hdd')], false],
    ['NotIn', [expression('disk', 'NotIn', 'ssd')], false],
    ['NotIn of a missing label', [expression('gpu', 'NotIn', 'a')], true],
    ['Exists', [expression('disk', 'Exists')], true],
    ['Exists not', [expression('gpu', 'Exists')], false],
    ['DoesNotExist', [expression('gpu', 'DoesNotExist')], true],
    ['Gt', [expression('cores', 'Gt', '7')], true],
    ['Gt the same', [expression('cores', 'Gt', '8')], false],
    ['Lt', [expression('cores', 'Lt', '9')], true],
    ['Gt of a label that is not a number', [expression('word', 'Gt', '1')], false],
    ['Gt of a missing label', [expression('gpu', 'Gt', '1')], false],
    ['Gt with a value that is not a number', [expression('cores', 'Gt', 'few')], false],
    ['an unknown operator', [expression('disk', 'Like', 'ssd')], false],
    [
      'all expressions of a term',
      [
        {
          matchExpressions: [
            ...expression('disk', 'Exists').matchExpressions!,
            ...expression('gpu', 'Exists').matchExpressions!,
          ],
        },
      ],
      false,
    ],
    ['one of the terms', [expression('gpu', 'Exists'), expression('disk', 'Exists')], true],
    ['an empty term', [{}], false],
    ['no terms', [], false],
    ['the name', [field('In', 'n')], true],
    ['another name', [field('In', 'm')], false],
    ['not that name', [field('NotIn', 'n')], false],
    ['name and label', [{ ...field('In', 'n'), ...expression('gpu', 'Exists') }], false],
  ]
  for (const [title, nodeSelectorTerms, expected] of cases)
    assert.equal(nodeSelectorOf({ nodeSelectorTerms })(node), expected, title)
})

test('the nodes of a pod have to match its nodeSelector and its required affinity', () => {
  const required = (...nodeSelectorTerms: NodeSelectorTerm[]) => ({
    nodeAffinity: { requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms } },
  })
  assert.equal(requiredNodes({}), undefined)
  assert.equal(requiredNodes({ nodeSelector: {}, affinity: { nodeAffinity: {} } }), undefined)
  assert.equal(requiredNodes({ nodeSelector: { disk: 'ssd' } })?.(node), true)
  assert.equal(requiredNodes({ nodeSelector: { disk: 'hdd' } })?.(node), false)
  assert.equal(requiredNodes({ affinity: required(expression('cores', 'Exists')) })?.(node), true)
  assert.equal(requiredNodes({ affinity: required() })?.(node), false)
  assert.equal(
    requiredNodes({ nodeSelector: { disk: 'hdd' }, affinity: required(expression('cores', 'Exists')) })?.(node),
    false,
  )
  assert.equal(requiredNodes({ nodeSelector: { disk: 'ssd' } })?.({ metadata: {} }), false)
})
