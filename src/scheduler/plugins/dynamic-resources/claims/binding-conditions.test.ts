import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ResourceClaim } from '../../../../client/kinds.ts'
import { aClaim, devicesOnNodeA, driver, taken } from '../devices.fixture.ts'
import { isReady } from './binding-conditions.ts'

test('devices with binding conditions are ready once these are true', () => {
  const claim = (...conditions: string[]): ResourceClaim => {
    const status = taken('c', 'g0', {
      bindingConditions: ['Attached', 'Prepared'],
      bindingFailureConditions: ['Broken'],
    }).status
    const reported = conditions.map((type) => ({
      type,
      status: 'True',
      reason: 'x',
      message: '',
      lastTransitionTime: 'now',
    }))
    return aClaim('c', [], {}, { ...status, devices: [{ driver, pool: 'a', device: 'g0', conditions: reported }] })
  }
  assert.equal(isReady(claim()), false)
  assert.equal(isReady(claim('Attached')), false)
  assert.equal(isReady(claim('Attached', 'Prepared')), true)
  assert.throws(() => isReady(claim('Attached', 'Broken')), /^Error: claim c binding failed: reason=x, message=""$/)
})

test('claims with failed or overdue devices fit no node and are deallocated', () => {
  const claim = (allocationTimestamp: string, ...failures: string[]): ResourceClaim => {
    const allocation = {
      devices: {
        results: [
          {
            request: 'r',
            driver,
            pool: 'a',
            device: 'g0',
            bindingConditions: ['Attached'],
            bindingFailureConditions: ['Broken'],
          },
        ],
      },
    }
    const reported = failures.map((type) => ({
      type,
      status: 'True',
      reason: 'x',
      message: '',
      lastTransitionTime: 'now',
    }))
    return aClaim(
      'c',
      [],
      {},
      {
        allocation: { ...allocation, allocationTimestamp },
        devices: [{ driver, pool: 'a', device: 'g0', conditions: reported }],
      },
    )
  }
  const [now, longAgo] = [new Date().toISOString(), '2026-01-01T00:00:00Z']
  const elsewhere = 'resourceclaim not available on the node'
  assert.equal(devicesOnNodeA([claim(now)], []), 'as allocated')
  assert.equal(devicesOnNodeA([claim(now, 'Broken')], []), elsewhere)
  assert.equal(devicesOnNodeA([claim(longAgo)], []), elsewhere)
  assert.equal(devicesOnNodeA([claim(longAgo, 'Attached')], []), 'as allocated')
})
