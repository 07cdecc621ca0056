import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ExternalInterface } from '../../interface/external-interface.ts'
import type { Lease } from '../../subnets/subnet-manager.ts'
import { wireguardConfig } from './wireguard-config.ts'
import { devicePeers } from './wireguard-peers.ts'

const PublicKey = Buffer.alloc(32, 1).toString('base64')
const external: ExternalInterface = {
  ...{ name: 'eth0', index: 2, mtu: 1500, address: '192.168.33.101', ipv6Address: '2001:db8::101' },
  ...{ publicIP: '192.168.33.101', publicIPv6: '2001:db8::101' },
}

function lease(attributes: Partial<Lease['attributes']> = {}): Lease {
  return {
    ...{ node: 'b', subnet: '10.244.2.0/24', ipv6Subnet: 'fd10:244:0:2::/64' },
    attributes: {
      ...{ backendType: 'wireguard', publicIP: '192.168.33.102', publicIPv6: '2001:db8::102' },
      ...{ backendData: { PublicKey, Port: 7001 }, backendV6Data: { PublicKey, Port: 7002 } },
      ...attributes,
    },
  }
}

function endpoints(mode: string, attributes?: Partial<Lease['attributes']>) {
  const failures: string[] = []
  const found = devicePeers([lease(attributes)], wireguardConfig({ Mode: mode }), external, (text) =>
    failures.push(text),
  )
  const shown = (peers: (typeof found)['main']) =>
    peers.map(({ endpoint, allowedIPs }) => `${allowedIPs} by ${endpoint?.address} ${endpoint?.port}`)
  return { main: shown(found.main), ipv6: shown(found.ipv6), failures }
}

const both = '10.244.2.0/24,fd10:244:0:2::/64'

test('separate tunnels have a peer for each family', () => {
  assert.deepEqual(endpoints('separate'), {
    main: ['10.244.2.0/24 by 192.168.33.102 7001'],
    ipv6: ['fd10:244:0:2::/64 by 2001:db8::102 7002'],
    failures: [],
  })
})

test('one tunnel uses the family of the mode', () => {
  assert.deepEqual(endpoints('ipv4').main, [`${both} by 192.168.33.102 7001`])
  assert.deepEqual(endpoints('ipv6').main, [`${both} by 2001:db8::102 7002`])
})

test('auto prefers public addresses', () => {
  assert.deepEqual(endpoints('auto').main, [`${both} by 2001:db8::102 7002`])
  assert.deepEqual(endpoints('auto', { publicIP: '203.0.113.2' }).main, [`${both} by 203.0.113.2 7001`])
  assert.deepEqual(endpoints('auto', { publicIPv6: 'fd33::102' }).main, [`${both} by 192.168.33.102 7001`])
  assert.deepEqual(endpoints('auto', { publicIPv6: undefined }).main, [`${both} by 192.168.33.102 7001`])
})

test('nodes without a port have this node’s, and nodes without a key are named', () => {
  assert.deepEqual(endpoints('separate', { backendV6Data: { PublicKey } }).ipv6, [
    'fd10:244:0:2::/64 by 2001:db8::102 51821',
  ])
  assert.deepEqual(endpoints('separate', { backendData: {} }).failures, [
    'the lease 10.244.2.0/24 of the node b has no PublicKey: restart flannel on that node',
  ])
})

test('wrong fields are named without their secrets', () => {
  assert.throws(() => wireguardConfig({ Mode: 'both' }), /no valid Mode configured: "both"\. Use one of separate, auto/)
  assert.throws(
    () => wireguardConfig({ PSK: 'secret' }),
    (error: Error) => /PSK must be a key/.test(error.message) && !error.message.includes('secret'),
  )
  assert.throws(() => wireguardConfig({ ListenPort: 0 }), /ListenPort is 0/)
})
