import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Link } from '../../netlink/links.ts'
import { findInterface, type InterfaceHost, type InterfaceOptions } from './find-interface.ts'

const link = (index: number, name: string, mtu = 1500): Link => ({
  index,
  name,
  mtu,
  address: '',
  master: 0,
  kind: '',
  isUp: true,
  data: Buffer.alloc(0),
})

/** A machine with a NAT as its default route, as Vagrant has it, and a network of nodes. */
const host: InterfaceHost = {
  links: { list: () => [link(1, 'lo'), link(2, 'eth0'), link(3, 'eth1', 1400)] },
  addresses: {
    list: () => [
      { link: 1, address: '127.0.0.1/8' },
      { link: 2, address: '10.0.2.15/24' },
      { link: 3, address: 'fe80::3/64' },
      { link: 3, address: '192.168.33.101/24' },
      { link: 3, address: 'fd33::101/64' },
    ],
  },
  routes: {
    list: () => [{ destination: '0.0.0.0/0', gateway: '10.0.2.2', link: 2 }],
    lookUp: (address) => ({ destination: `${address}/32`, link: 3, source: '192.168.33.101' }),
  },
}

const none: InterfaceOptions = {
  names: [],
  patterns: [],
  canReach: undefined,
  publicIP: undefined,
  publicIPv6: undefined,
}
const four = { enableIPv4: true, enableIPv6: false }
const both = { enableIPv4: true, enableIPv6: true }

test('the interface of the default route is used without flags', () => {
  assert.deepEqual(findInterface(host, none, four), {
    name: 'eth0',
    index: 2,
    mtu: 1500,
    address: '10.0.2.15',
    ipv6Address: undefined,
    publicIP: '10.0.2.15',
    publicIPv6: undefined,
  })
})

test('flags name an interface by its name, an address, an expression, or an address that it reaches', () => {
  const cases: readonly Partial<InterfaceOptions>[] = [
    { names: ['eth1'] },
    { names: ['192.168.33.101'] },
    { names: ['eth9', 'eth1'] },
    { patterns: ['^192\\.168\\.33\\.'] },
    { patterns: ['eth1$'] },
    { names: ['eth9'], patterns: ['eth[1-9]'] },
    { canReach: '192.168.33.102' },
    { publicIP: '192.168.33.101' },
  ]
  for (const options of cases) {
    const { name, address, publicIP, mtu } = findInterface(host, { ...none, ...options }, four)
    assert.deepEqual([name, address, publicIP, mtu], ['eth1', '192.168.33.101', '192.168.33.101', 1400])
  }
  const dual = findInterface(host, { ...none, names: ['eth1'] }, both)
  assert.deepEqual([dual.address, dual.ipv6Address], ['192.168.33.101', 'fd33::101'])
})

test('a public address need not be of the interface', () => {
  const { name, address, publicIP } = findInterface(host, { ...none, names: ['eth1'], publicIP: '203.0.113.9' }, four)
  assert.deepEqual([name, address, publicIP], ['eth1', '192.168.33.101', '203.0.113.9'])
})

test('an interface that is not found is an error with the interfaces of the machine', () => {
  const cases: readonly (readonly [Partial<InterfaceOptions>, typeof both, RegExp])[] = [
    [{ names: ['eth9'] }, four, /eth9: there is no such interface\. This machine has .*eth1 \[192\.168\.33\.101\]/],
    [{ patterns: ['('] }, four, /could not compile the IP address regex '\('/],
    [{ patterns: ['^wlan'] }, four, /could not match pattern \^wlan to any of the available network interfaces/],
    [{}, both, /failed to get default v6 interface: this machine has no default route of IPv6.*--iface/],
    [{ names: ['eth0'] }, both, /failed to find IPv6 address for interface eth0/],
    [{ publicIP: 'here' }, four, /--public-ip here is not an IPv4 address/],
  ]
  for (const [options, families, message] of cases)
    assert.throws(() => findInterface(host, { ...none, ...options }, families), { message })
})
