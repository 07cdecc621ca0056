import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseNetworkConfig } from '../../config/network-config.ts'
import { chooseSubnets, isCompatible } from './choose-subnet.ts'

const config = (fields: object) => parseNetworkConfig(JSON.stringify(fields))
const taken = (...subnets: readonly string[]) => subnets.map((subnet) => ({ subnet, ipv6Subnet: undefined }))

test('a node gets a subnet that overlaps no other, also not one of another length', () => {
  const network = config({ Network: '10.5.0.0/21', SubnetLen: 24 })
  const choose = (random: number, ...others: readonly string[]) =>
    chooseSubnets(network, taken(...others), () => random).subnet
  assert.equal(choose(0), '10.5.1.0/24')
  assert.equal(choose(0.999), '10.5.7.0/24')
  assert.equal(choose(1), '10.5.7.0/24')
  assert.equal(choose(0, '10.5.1.0/24', '10.5.2.0/25'), '10.5.3.0/24')
  assert.equal(choose(0, '10.5.0.0/22'), '10.5.4.0/24')
  assert.throws(() => choose(0, '10.5.0.0/21'), /out of subnets: 7 nodes have all subnets of the Network/)
})

test('a network of IPv6 with countless subnets is not searched to its end', () => {
  const network = config({ Network: '10.5.0.0/16', EnableIPv6: true, IPv6Network: 'fd00::/8' })
  assert.deepEqual(
    chooseSubnets(network, [], () => 0.5),
    { subnet: '10.5.51.0/24', ipv6Subnet: 'fd00:0:0:33::/64' },
  )
})

test('a subnet is compatible if it is in the range and has its length', () => {
  const network = config({ Network: '10.5.0.0/16', SubnetMin: '10.5.10.0', SubnetMax: '10.5.20.0' })
  const fits = (subnet: string, ipv6Subnet?: string) => isCompatible(network, { subnet, ipv6Subnet })
  assert.ok(fits('10.5.10.0/24'))
  assert.ok(fits('10.5.20.0/24'))
  assert.ok(!fits('10.5.21.0/24'))
  assert.ok(!fits('10.5.12.0/25'))
  assert.ok(!fits('10.5.12.0/24', 'fd00::/64'))
})
