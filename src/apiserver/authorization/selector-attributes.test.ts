import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fieldRequirements, labelRequirements } from './selector-attributes.ts'

test('selectors become requirements, without unreadable ones', () => {
  assert.deepEqual(fieldRequirements({ rawSelector: 'spec.nodeName=a,status.phase!=Running' }), {
    requirements: [
      { key: 'spec.nodeName', operator: 'In', values: ['a'] },
      { key: 'status.phase', operator: 'NotIn', values: ['Running'] },
    ],
    faulty: false,
  })
  assert.deepEqual(labelRequirements({ rawSelector: 'app=web,!old,tier in (a,b),x' }), {
    requirements: [
      { key: 'app', operator: 'In', values: ['web'] },
      { key: 'old', operator: 'DoesNotExist' },
      { key: 'tier', operator: 'In', values: ['a', 'b'] },
      { key: 'x', operator: 'Exists' },
    ],
    faulty: false,
  })
  assert.deepEqual(fieldRequirements({ rawSelector: 'nonsense' }), { faulty: true })
  assert.deepEqual(fieldRequirements({}), { faulty: false })
  const one = { key: 'a', operator: 'In', values: ['b'] }
  assert.deepEqual(fieldRequirements({ requirements: [one, { key: 'c', operator: 'Exists' }] }), {
    requirements: [one],
    faulty: true,
  })
  assert.deepEqual(labelRequirements({ requirements: [{ key: 'c', operator: 'Newer' }] }), { faulty: true })
})
