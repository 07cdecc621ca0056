import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ChargesOfOthers } from './charges-of-others.ts'
import type { Quota } from './quota.ts'

const quota = (revision: number, pods: string, uid = 'u'): Quota => ({
  namespace: 'ns',
  name: 'q',
  uid,
  revision,
  specHard: { pods: '10' },
  hard: { pods: '10' },
  used: { pods, cpu: '1' },
  scopes: [],
})

test('a recount retains the charges of other servers for their lifetime, and no more', () => {
  const charges = new ChargesOfOthers(5000)
  charges.changed(quota(1, '2'), undefined, 0)
  assert.deepEqual(charges.retained(quota(1, '2'), { pods: '0' }, 4999), { pods: '2' })
  assert.deepEqual(charges.retained(quota(1, '2'), { pods: '0' }, 5000), { pods: '0' })
  charges.changed(quota(2, '5'), quota(1, '2'), 6000)
  assert.deepEqual(charges.retained(quota(2, '5'), { pods: '1' }, 6001), { pods: '4' })
  assert.deepEqual(charges.retained(quota(2, '5'), { pods: '4' }, 6001), { pods: '5' })
  assert.deepEqual(charges.retained(quota(2, '5'), { pods: '7' }, 6001), { pods: '7' })
})

test('own charges and those of a deleted quota are not retained', () => {
  const charges = new ChargesOfOthers(5000)
  charges.changed(quota(2, '5'), quota(1, '2'), 0)
  charges.isOwn(quota(2, '5'))
  assert.deepEqual(charges.retained(quota(2, '5'), { pods: '0' }, 1), { pods: '0' })
  charges.changed(quota(3, '6'), quota(2, '5'), 1)
  charges.changed(undefined, quota(3, '6'), 2)
  charges.changed(quota(5, '0', 'new'), undefined, 3)
  assert.deepEqual(charges.retained(quota(5, '3', 'new'), { pods: '0' }, 4), { pods: '0' })
})
