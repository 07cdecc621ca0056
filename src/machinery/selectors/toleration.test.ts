import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isTolerated, preventsScheduling, type Toleration, tolerates } from './toleration.ts'

test('tolerations match taints by key, value and effect', () => {
  const taint = { key: 'a', value: 'b', effect: 'NoSchedule' }
  const cases: [Toleration, boolean][] = [
    [{ operator: 'Exists' }, true],
    [{ key: 'a', operator: 'Exists' }, true],
    [{ key: 'x', operator: 'Exists' }, false],
    [{ key: 'a', value: 'b' }, true],
    [{ key: 'a', operator: 'Equal', value: 'c' }, false],
    [{ key: 'a', operator: 'Exists', effect: 'NoExecute' }, false],
    [{ key: 'a', operator: 'Exists', effect: 'NoSchedule' }, true],
    [{ key: 'a', operator: 'Unknown', value: 'b' }, false],
  ]
  for (const [toleration, expected] of cases)
    assert.equal(tolerates(toleration, taint), expected, JSON.stringify(toleration))
  assert.equal(isTolerated(taint, [{ key: 'x' }, { operator: 'Exists' }]), true)
  assert.equal(isTolerated(taint, undefined), false)
  assert.equal(tolerates({ key: 'a' }, { key: 'a', effect: 'NoSchedule' }), true)
})

test('NoSchedule and NoExecute prevent scheduling', () => {
  assert.deepEqual(
    ['NoSchedule', 'PreferNoSchedule', 'NoExecute'].map((effect) => preventsScheduling({ key: 'a', effect })),
    [true, false, true],
  )
})
