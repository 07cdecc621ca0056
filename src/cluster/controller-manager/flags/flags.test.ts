import assert from 'node:assert/strict'
import { test } from 'node:test'
import { chosenOf, controllerValues, electionTimes, idleLines, managerFlags, managerHelp } from './index.ts'

test('flags of the manager and of all controllers are parsed in all forms of pflag', () => {
  const flags = managerFlags([
    '--controllers=*,-job',
    '--controllers',
    'tokencleaner',
    '--concurrent_rc_syncs=7',
    '--enable-dynamic-provisioning=F',
    '--node-eviction-rate',
    '0.5',
    '--leader-elect-lease-duration=30s',
    '-v2',
  ])
  assert.deepEqual(chosenOf(flags), ['*', '-job', 'tokencleaner'])
  assert.deepEqual(controllerValues(flags), {
    'concurrent-rc-syncs': '7',
    'enable-dynamic-provisioning': 'false',
    'node-eviction-rate': '0.5',
  })
  assert.deepEqual(electionTimes(flags), {
    leaseDurationMs: 30_000,
    renewDeadlineMs: 10_000,
    retryPeriodMs: 2_000,
  })
})

test('unknown flags, wrong types and conflicting flags are errors', () => {
  assert.throws(() => managerFlags(['--concurent-rc-syncs=7']), /unknown flag: --concurent-rc-syncs/)
  assert.throws(
    () => managerFlags(['--concurrent-rc-syncs=many']),
    /invalid argument "many" for "--concurrent-rc-syncs" flag/,
  )
  assert.throws(() => managerFlags(['--controllers=nobody']), /"nobody" is not in the list of known controllers/)
  assert.throws(
    () => managerFlags(['--leader-elect-lease-duration=5s']),
    /must be longer than --leader-elect-renew-deadline/,
  )
  assert.throws(() => managerFlags(['--leader-elect-resource-lock=endpoints']), /must be "leases"/)
  assert.throws(() => managerFlags(['--feature-gates=A']), /missing bool value for A/)
  assert.throws(() => managerFlags(['--secure-port=70000']), /must be between 0 and 65535/)
  assert.throws(() => managerFlags(['run']), /"kube-controller-manager" does not take any arguments/)
})

test('flags without effect give the reason; help lists every flag once', () => {
  assert.deepEqual(idleLines(managerFlags(['--cloud-provider=x'])), [
    '--cloud-provider changes nothing here: there is no cloud provider in this program',
  ])
  const help = managerHelp('t8s controller-manager')
  const listed = [...help.matchAll(/^ +(?:-\w, )?--([\w-]+)/gm)].map(([, name]) => name)
  assert.deepEqual(listed, [...new Set(listed)])
  for (const name of [
    'concurrent-deployment-syncs int',
    'node-monitor-grace-period duration',
    'cluster-signing-duration duration',
    'kubeconfig string',
  ]) {
    assert.equal(help.split('\n').filter((line) => line.includes(`--${name} `)).length, 1, name)
  }
})
