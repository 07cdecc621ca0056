import assert from 'node:assert/strict'
import { test } from 'node:test'
import { BootSequence } from './boot-sequence.ts'
import type { HealthCheck } from './health.ts'

const roles = 'poststarthook/rbac/bootstrap-roles'
const problem = (checks: readonly HealthCheck[]) => checks.find(({ name }) => name === roles)?.check()

test('a step fails until it is done; livez ignores it during the grace period', async () => {
  let now = 1000
  const boot = new BootSequence(['objects', 'services'], { livezGraceMs: 500, now: () => now })
  assert.deepEqual([problem(boot.checks), problem(boot.liveChecks)], ['not finished', undefined])
  now = 1500
  assert.deepEqual([problem(boot.checks), problem(boot.liveChecks)], ['not finished', 'not finished'])
  assert.equal(await boot.during('objects', Promise.resolve(7)), 7)
  assert.deepEqual([problem(boot.checks), problem(boot.liveChecks)], [undefined, undefined])
  assert.equal(boot.checks.find(({ name }) => name === 'poststarthook/bootstrap-controller')?.check(), 'not finished')
  await assert.rejects(boot.during('services', Promise.reject(new Error('no'))), /^Error: no$/)
  assert.equal(boot.checks.find(({ name }) => name === 'poststarthook/bootstrap-controller')?.check(), 'not finished')
})

test('steps that a server does not have are not checked', () => {
  assert.ok(!new BootSequence(['objects']).checks.some(({ name }) => name.includes('fairness')))
  assert.equal(new BootSequence(['flowControl']).checks.length, 3)
})
