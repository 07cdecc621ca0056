import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseNetworkConfig } from './network-config.ts'
import { subnetAt, subnetCount, subnetRange } from './subnet-range.ts'

const parse = (fields: object) => parseNetworkConfig(JSON.stringify(fields))

test('net-conf.json has the defaults of upstream, and names of fields in any case', () => {
  assert.deepEqual(parse({ network: '10.244.7.9/16', backend: { type: 'VXLAN', VNI: 3 } }), {
    enableIPv4: true,
    enableIPv6: false,
    enableNFTables: false,
    network: '10.244.0.0/16',
    ipv6Network: undefined,
    subnets: { length: undefined, min: undefined, max: undefined },
    ipv6Subnets: { length: undefined, min: undefined, max: undefined },
    backendType: 'vxlan',
    backend: { type: 'VXLAN', VNI: 3 },
  })
  assert.equal(parse({ Network: '10.0.0.0/8' }).backendType, 'udp')
  const six = parse({ EnableIPv4: false, EnableIPv6: true, IPv6Network: 'fd00:10::/48' })
  assert.deepEqual([six.network, six.ipv6Network], [undefined, 'fd00:10::/48'])
})

test('a wrong net-conf.json is named by its field', () => {
  const cases: readonly (readonly [string, RegExp])[] = [
    ['{', /the network configuration is not JSON/],
    ['[]', /the network configuration must be an object/],
    ['{}', /please define a correct Network parameter in the flannel config: 10\.244\.0\.0\/16/],
    ['{"Network":"fd00::/48"}', /Network is "fd00::\/48": it must be a range such as 10\.244\.0\.0\/16/],
    ['{"Network":"10.0.0.0/8","EnableIPv6":1}', /EnableIPv6 is 1: it must be true or false/],
    ['{"Network":"10.0.0.0/8","EnableIPv6":true}', /please define a correct IPv6Network parameter/],
    ['{"EnableIPv4":false}', /EnableIPv4 and EnableIPv6 are both false/],
    ['{"Network":"10.0.0.0/8","Backend":"vxlan"}', /Backend must be an object/],
    ['{"Network":"10.0.0.0/8","SubnetLen":"24"}', /SubnetLen is "24": it must be a whole number/],
  ]
  for (const [text, message] of cases) assert.throws(() => parseNetworkConfig(text), { message })
})

test('a network is divided into subnets without the first one', () => {
  const range = subnetRange(parse({ Network: '10.100.0.0/16' }), 4)!
  assert.deepEqual([subnetAt(range, 0n), subnetCount(range)], ['10.100.1.0/24', 255n])
  assert.equal(subnetAt(range, 254n), '10.100.255.0/24')
  const small = subnetRange(parse({ Network: '10.3.0.0/24' }), 4)!
  assert.deepEqual([subnetAt(small, 0n), subnetCount(small)], ['10.3.0.64/26', 3n])
  const chosen = { Network: '10.0.0.0/8', SubnetLen: 20, SubnetMin: '10.10.0.0', SubnetMax: '10.99.0.0' }
  const bounded = subnetRange(parse(chosen), 4)!
  assert.deepEqual(
    [subnetAt(bounded, 0n), subnetAt(bounded, subnetCount(bounded) - 1n)],
    ['10.10.0.0/20', '10.99.0.0/20'],
  )
  const six = subnetRange(parse({ Network: '10.0.0.0/8', EnableIPv6: true, IPv6Network: 'fc00::/48' }), 6)!
  assert.deepEqual([subnetAt(six, 0n), subnetCount(six)], ['fc00:0:0:1::/64', 65_535n])
})

test('settings of subnets that do not fit are errors', () => {
  const cases: readonly (readonly [object, RegExp])[] = [
    [{ Network: '10.0.0.0/29' }, /Network is too small\. Minimum useful network prefix is \/28/],
    [{ Network: '10.0.0.0/16', SubnetLen: 31 }, /SubnetLen must be less than \/31/],
    [{ Network: '10.0.0.0/16', SubnetLen: 17 }, /Network must be able to accommodate at least four subnets/],
    [{ Network: '10.0.0.0/16', SubnetMin: '10.1.0.0' }, /SubnetMin 10\.1\.0\.0 is not in the range of the Network/],
    [{ Network: '10.0.0.0/16', SubnetMax: '10.0.9.1' }, /SubnetMax is not on a SubnetLen boundary: 10\.0\.9\.1/],
    [{ Network: '10.0.0.0/16', SubnetMin: '10.0.9.0', SubnetMax: '10.0.8.0' }, /SubnetMax 10\.0\.8\.0 is before/],
  ]
  for (const [fields, message] of cases) assert.throws(() => subnetRange(parse(fields), 4), { message })
})
