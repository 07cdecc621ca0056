import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Unstructured } from '../../machinery/object.ts'
import { compileCondition } from './condition.ts'

const pod: Unstructured = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'a', generation: 2 },
  spec: { containers: [{ image: 'x' }, { image: 'y' }] },
  status: {
    phase: 'Running',
    conditions: [
      { type: 'Ready', status: 'True' },
      { type: 'Old', status: 'True', observedGeneration: 1 },
      { type: 'Scheduled', status: 'False', observedGeneration: 2 },
    ],
  },
}
const meets = (condition: string, object: Unstructured | undefined = pod): boolean =>
  compileCondition(condition)(object)

test('conditions are those of kubectl wait', () => {
  for (const condition of [
    'Ready',
    'ready',
    'condition=Ready',
    'Ready=true',
    'condition=Scheduled=False',
    'create',
    'jsonpath={.status.phase}=Running',
    "jsonpath='{.status.phase}'=Running",
    '{.status.phase}=Running',
    '{status.phase}="Running"',
    '{.status.phase}',
    'jsonpath={.status.conditions[?(@.type=="Ready")].status}=True',
    '{.spec.containers[1].image}=y',
    '{.metadata.generation}=2',
  ])
    assert.equal(meets(condition), true, condition)
  for (const condition of ['Ready=False', 'Missing', 'Old', 'delete', '{.status.phase}=Failed', '{.status.reason}'])
    assert.equal(meets(condition), false, condition)
  for (const condition of ['Ready', 'create', '{.status.phase}'])
    assert.equal(compileCondition(condition)(undefined), false, condition)
  assert.equal(compileCondition('delete')(undefined), true)
})

test('texts that are no conditions are rejected with a sentence', () => {
  assert.throws(() => compileCondition('not so'), /"not so" is no condition: use the type of a condition such as Ready/)
  assert.throws(() => compileCondition('jsonpath={.a[}=b'), /The path \{\.a\[\} is no JSONPath/)
  assert.throws(() => meets('{.spec.containers[*].image}=x'), /has 2 values: choose one/)
  assert.throws(() => meets('{.status}=x'), /leads to \{.*\}, which is no single value/)
})
