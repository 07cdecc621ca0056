import assert from 'node:assert/strict'
import { test } from 'node:test'
import { randomMac, vtepMac } from './mac-address.ts'
import { vxlanConfig } from './vxlan-config.ts'
import { vxlanPeers } from './vxlan-peer.ts'

test('fields of the backend have the defaults of upstream', () => {
  const usual = vxlanConfig({ Type: 'vxlan' })
  assert.deepEqual([usual.vni, usual.port, usual.directRouting, usual.mtu], [1, 8472, false, undefined])
  const given = vxlanConfig({
    type: 'vxlan',
    vni: 4096,
    Port: 4789,
    directRouting: true,
    MacPrefix: '0E-2A',
    MTU: 1400,
  })
  assert.deepEqual(
    [given.vni, given.port, given.directRouting, given.macPrefix, given.mtu],
    [4096, 4789, true, '0e2a', 1400],
  )
  for (const [fields, message] of [
    [{ VNI: 'one' }, /VNI is "one": it must be a whole number from 0 to 16777215/],
    [{ MTU: 100 }, /MTU is 100: it must be a whole number from 576 to 65535/],
    [{ MacPrefix: '01-02' }, /MacPrefix "01-02" is not the begin of a MAC address of one host/],
  ] as const)
    assert.throws(() => vxlanConfig(fields), { message })
})

test('a new MAC address is local and of one host, and begins with the prefix', () => {
  const random = (size: number): Uint8Array => new Uint8Array(size).fill(0xff)
  assert.equal(randomMac(random), 'fe:ff:ff:ff:ff:ff')
  assert.equal(randomMac(random, '0e2a'), '0e:2a:ff:ff:ff:ff')
  assert.equal(vtepMac({ VNI: 1, VtepMAC: '12:C6:65:89:B4:E3' }), '12:c6:65:89:b4:e3')
  for (const data of [undefined, null, 'text', {}, { VtepMAC: 'none' }]) assert.equal(vtepMac(data), undefined)
})

test('a lease without the data of a family is named', () => {
  const faults: string[] = []
  const lease = {
    node: 'b',
    subnet: '10.244.2.0/24',
    ipv6Subnet: 'fd00:0:0:2::/64',
    attributes: { backendType: 'vxlan', publicIP: '192.0.2.2', backendData: { VtepMAC: '0a:00:00:00:00:02' } },
  }
  assert.deepEqual(
    vxlanPeers(lease, (fault) => faults.push(fault)),
    [{ family: 4, subnet: '10.244.2.0/24', gateway: '10.244.2.0', mac: '0a:00:00:00:00:02', host: '192.0.2.2' }],
  )
  assert.deepEqual(faults, ['the lease fd00:0:0:2::/64 of the node b has no address: restart flannel on that node'])
})
