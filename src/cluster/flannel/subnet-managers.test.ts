import assert from 'node:assert/strict'
import { test } from 'node:test'
import { flannelFlags } from './flags.ts'
import { createSubnetManager } from './subnet-managers.ts'

const create = (args: readonly string[], environment: NodeJS.ProcessEnv = {}) =>
  createSubnetManager({
    flags: flannelFlags(['--subnet-file=/missing/subnet.env', ...args], environment),
    environment,
    log: () => {},
  })

test('without --kube-subnet-mgr, subnets are in etcd', async () => {
  const manager = await create(['--etcd-endpoints=http://10.0.0.1:2379,https://10.0.0.2:2379'])
  assert.equal(manager.name, 'Etcd Local Manager with Previous Subnet: None')
  await manager.stop()
})

test('flags of etcd that cannot be used are reported with a remedy', async () => {
  const cases = [
    [['--subnet-lease-renew-margin=1440'], /Invalid subnet-lease-renew-margin option.*1440 is not from 1 to 1439/],
    [['--etcd-endpoints', 'ftp://10.0.0.1'], /ftp:\/\/10\.0\.0\.1 is not a URL of etcd: write it as https:/],
    [['--etcd-cafile', '/missing/ca.pem'], /cannot read \/missing\/ca\.pem \(--etcd-cafile\): no such file/],
    [['--etcd-certfile', import.meta.filename], /needs both --etcd-certfile and --etcd-keyfile/],
  ] as const
  for (const [args, message] of cases) await assert.rejects(create(args), message)
  await assert.rejects(create([], { FLANNELD_ETCD_CAFILE: '/missing/ca.pem' }), /cannot read \/missing\/ca\.pem/)
})
