/** The subnet manager of etcd, with a real etcd: which subnets nodes get, keep and lose. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { EtcdCalls, type EtcdUser } from '../../src/network/flannel/subnets/etcd/client/etcd-calls.ts'
import { EtcdSubnetManager } from '../../src/network/flannel/subnets/etcd/etcd-subnet-manager.ts'
import type { LeaseEvent } from '../../src/network/flannel/subnets/subnet-manager.ts'
import { type EtcdMember, startEtcd, withoutEtcd } from '../support/etcd.ts'
import { waitFor } from '../support/wait-for.ts'

const never = new AbortController().signal
const dayMs = 24 * 60 * 60 * 1000
/** A network has a prefix of its own, so that tests share one etcd. */
const networks = ['one', 'two', 'three', 'four', 'five', 'six', 'seven'] as const
type Network = (typeof networks)[number]

interface Wanted {
  readonly network: Network
  readonly previous?: { readonly subnet: string; readonly ipv6Subnet?: string | undefined }
  readonly renewAfterMs?: number
  readonly user?: EtcdUser
}

test('subnets of nodes in etcd', { skip: withoutEtcd }, async (t) => {
  const [etcd] = startEtcd(t) as [EtcdMember]
  let user: readonly string[] = []
  const managers: EtcdSubnetManager[] = []
  const logs: string[] = []
  t.after(() => Promise.all(managers.map((manager) => manager.stop())))

  const etcdctl = (...args: readonly string[]): string =>
    execFileSync('etcdctl', ['--endpoints', etcd.url, ...user, ...args], {
      encoding: 'utf8',
      env: { ...process.env, ETCDCTL_API: '3' },
      stdio: 'pipe',
    })
  const keys = (network: Network): string[] =>
    etcdctl('get', `/${network}/subnets/`, '--prefix', '--keys-only').split('\n').filter(Boolean)
  const storedValue = (network: Network, key: string): string =>
    etcdctl('get', `/${network}/subnets/${key}`, '--print-value-only').trim()
  const configure = (network: Network, config: object): void => {
    etcdctl('put', `/${network}/config`, JSON.stringify({ Backend: { Type: 'host-gw' }, ...config }))
  }
  const manager = ({ network, previous, renewAfterMs = dayMs / 2, user: etcdUser }: Wanted): EtcdSubnetManager => {
    const created = new EtcdSubnetManager({
      calls: new EtcdCalls({ endpoints: [etcd.url], tls: {}, user: etcdUser, random: Math.random }),
      prefix: `/${network}`,
      previous: previous && { ipv6Subnet: undefined, ...previous },
      renewMarginMs: dayMs - renewAfterMs,
      random: Math.random,
      log: (line) => logs.push(line),
    })
    managers.push(created)
    return created
  }
  const acquire = (wanted: Wanted, publicIP: string) =>
    manager(wanted).acquireLease({ publicIP, backendType: 'host-gw' }, never)

  await t.test('a network without a configuration is reported with the command that creates one', async () => {
    await waitFor('etcd', () => etcdctl('endpoint', 'health'))
    await assert.rejects(manager({ network: 'one' }).networkConfig(), /flannel config not found in etcd .*etcdctl put/)
  })

  await t.test('nodes that start at one time get different subnets, until none is left', async () => {
    configure('one', { Network: '10.5.0.0/21', SubnetLen: 24 })
    const addresses = Array.from({ length: 7 }, (_, i) => `192.168.0.${i + 1}`)
    const leases = await Promise.all(addresses.map((address) => acquire({ network: 'one' }, address)))
    assert.deepEqual(
      leases.map(({ subnet }) => subnet).sort(),
      [1, 2, 3, 4, 5, 6, 7].map((i) => `10.5.${i}.0/24`),
    )
    assert.equal(keys('one').length, 7)
    await assert.rejects(acquire({ network: 'one' }, '192.168.0.9'), /out of subnets: 7 nodes have all subnets/)
  })

  await t.test('with two families, no part of a subnet is given twice', async () => {
    configure('two', {
      Network: '10.6.0.0/21',
      SubnetLen: 24,
      EnableIPv6: true,
      IPv6Network: 'fd06::/56',
    })
    const addresses = Array.from({ length: 6 }, (_, i) => `192.168.0.${i + 1}`)
    const leases = await Promise.all(addresses.map((address) => acquire({ network: 'two' }, address)))
    assert.equal(new Set(leases.map(({ subnet }) => subnet)).size, 6)
    assert.equal(new Set(leases.map(({ ipv6Subnet }) => ipv6Subnet)).size, 6)
    assert.match(keys('two')[0]!, /^\/two\/subnets\/10\.6\.\d\.0-24&fd06:0:0:[0-9a-f]+::-64$/)
  })

  await t.test('keys and values are those of upstream, and the lease lives for a day', async () => {
    configure('three', { Network: '10.7.0.0/16', SubnetMin: '10.7.9.0', SubnetMax: '10.7.9.0' })
    const backendData = { VNI: 1, VtepMAC: 'c6:d2:32:6f:8f:44' }
    const attributes = { publicIP: '192.168.64.3', backendType: 'vxlan', backendData }
    const lease = await manager({ network: 'three' }).acquireLease(attributes, never)
    assert.ok(Math.abs(lease.expiresAt! - Date.now() - dayMs) < 60_000)
    assert.deepEqual(keys('three'), ['/three/subnets/10.7.9.0-24'])
    assert.equal(
      storedValue('three', '10.7.9.0-24'),
      '{"PublicIP":"192.168.64.3","PublicIPv6":null,"BackendType":"vxlan",' +
        '"BackendData":{"VNI":1,"VtepMAC":"c6:d2:32:6f:8f:44"}}',
    )
  })

  await t.test('a node keeps the subnet of its address, else that of its subnet file', async () => {
    configure('four', { Network: '10.8.0.0/16' })
    const first = await acquire({ network: 'four' }, '192.168.0.1')
    assert.equal((await acquire({ network: 'four' }, '192.168.0.1')).subnet, first.subnet)
    const previous = { subnet: '10.8.77.0/24' }
    assert.equal((await acquire({ network: 'four', previous }, '192.168.0.2')).subnet, '10.8.77.0/24')
    assert.notEqual((await acquire({ network: 'four', previous }, '192.168.0.3')).subnet, '10.8.77.0/24')
    const other = await acquire({ network: 'four', previous: { subnet: '10.9.0.0/24' } }, '192.168.0.4')
    assert.match(other.subnet!, /^10\.8\./)
  })

  await t.test('a reservation has no end, and remains one when the node starts again', async () => {
    const key = '/four/subnets/10.8.200.0-24'
    etcdctl('put', key, '{"PublicIP":"192.168.0.20","PublicIPv6":null}')
    const lease = await acquire({ network: 'four' }, '192.168.0.20')
    assert.equal(lease.subnet, '10.8.200.0/24')
    assert.equal(lease.expiresAt, undefined)
    assert.match(etcdctl('get', key, '-w', 'fields'), /"Lease" : 0/)
    assert.match(storedValue('four', '10.8.200.0-24'), /"BackendType":"host-gw"/)
  })

  await t.test('a lease is renewed before its end, and flannel ends when it is revoked', async () => {
    configure('five', { Network: '10.10.0.0/16' })
    const renewing = manager({ network: 'five', renewAfterMs: 100 })
    const lease = await renewing.acquireLease({ publicIP: '192.168.0.1', backendType: 'host-gw' }, never)
    const key = `/five/subnets/${lease.subnet!.replace('/', '-')}`
    const leaseIdOf = () => /"Lease" : (\d+)/.exec(etcdctl('get', key, '-w', 'fields'))?.[1]
    const granted = leaseIdOf()
    const completing = renewing.completeLease(lease, never)
    completing.catch(() => {})
    await waitFor('a renewal', () => leaseIdOf() !== granted)
    assert.ok(logs.some((line) => line.startsWith('Lease renewed')))
    etcdctl('del', key)
    await assert.rejects(completing, /Lease has been revoked\. Shutting down daemon/)
  })

  await t.test('a lease that becomes a reservation is not renewed, and its node does not end', async () => {
    configure('six', { Network: '10.11.0.0/16' })
    const holding = manager({ network: 'six' })
    const lease = await holding.acquireLease({ publicIP: '192.168.0.1', backendType: 'host-gw' }, never)
    const key = lease.subnet!.replace('/', '-')
    const stopping = new AbortController()
    const completing = holding.completeLease(lease, stopping.signal)
    etcdctl('put', `/six/subnets/${key}`, storedValue('six', key))
    await waitFor('the reservation', () => logs.some((line) => line.includes('is a reservation now')))
    stopping.abort()
    await completing
  })

  await t.test('a watch begins with all leases, and goes on after etcd was killed', async () => {
    configure('seven', { Network: '10.12.0.0/16' })
    const one = await acquire({ network: 'seven' }, '192.168.0.1')
    const events: LeaseEvent[] = []
    const stopping = new AbortController()
    const watching = manager({ network: 'seven' }).watchLeases((event) => events.push(event), stopping.signal)
    await waitFor('a snapshot', () => events[0]?.type === 'snapshot' && events[0].leases[0]?.subnet === one.subnet)
    const two = await acquire({ network: 'seven' }, '192.168.0.2')
    const has = (type: 'added' | 'removed', subnet: string | undefined) => () =>
      events.some((event) => event.type === type && event.lease.subnet === subnet)
    await waitFor('the second node', has('added', two.subnet))
    await etcd.kill()
    etcd.start()
    await waitFor('etcd', () => etcdctl('del', `/seven/subnets/${one.subnet!.replace('/', '-')}`) === '1\n')
    await waitFor('the end of the first node', has('removed', one.subnet))
    assert.equal(events.filter(({ type }) => type === 'snapshot').length, 1)
    stopping.abort()
    await watching
  })

  await t.test('a user needs its password, and gets a new token when etcd has forgotten the last one', async () => {
    for (const args of [
      ['user', 'add', 'root:secret'],
      ['user', 'grant-role', 'root', 'root'],
      ['user', 'add', 'flannel:pods'],
      ['role', 'add', 'network'],
      ['role', 'grant-permission', 'network', '--prefix=true', 'readwrite', '/one/'],
      ['user', 'grant-role', 'flannel', 'network'],
      ['auth', 'enable'],
    ])
      await waitFor(args.join(' '), () => etcdctl(...args))
    user = ['--user', 'root:secret']
    const login = { name: 'flannel', password: 'pods' }
    await assert.rejects(manager({ network: 'one' }).networkConfig(), /give --etcd-username and --etcd-password/)
    const wrong = { name: 'flannel', password: 'other' }
    await assert.rejects(manager({ network: 'one', user: wrong }).networkConfig(), /correct --etcd-username/)
    await assert.rejects(manager({ network: 'two', user: login }).networkConfig(), /etcdctl role grant-permission/)
    const known = manager({ network: 'one', user: login })
    assert.equal((await known.networkConfig()).network, '10.5.0.0/21')
    await etcd.kill()
    etcd.start()
    await waitFor('the configuration', async () => (await known.networkConfig()).network === '10.5.0.0/21')
  })
})
