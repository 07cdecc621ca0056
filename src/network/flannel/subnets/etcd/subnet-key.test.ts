import assert from 'node:assert/strict'
import { test } from 'node:test'
import { leaseValue, parseLeaseValue } from './lease-value.ts'
import { parseSubnetKey, subnetKey } from './subnet-key.ts'

test('a key names the subnets of a node as upstream does', () => {
  const one = { subnet: '10.5.52.0/24', ipv6Subnet: undefined }
  const two = { subnet: '10.5.52.0/24', ipv6Subnet: 'fd00:10:5:34::/64' }
  assert.equal(subnetKey(one), '10.5.52.0-24')
  assert.equal(subnetKey(two), '10.5.52.0-24&fd00:10:5:34::-64')
  assert.deepEqual(parseSubnetKey('/coreos.com/network/subnets/10.5.52.0-24'), one)
  assert.deepEqual(parseSubnetKey('/coreos.com/network/subnets/10.5.52.0-24&fd00:10:5:34::-64'), two)
  for (const key of ['10.5.52.0', '10.5.52.0-33', '10.5.999.0-24', 'config', '10.5.52.0-24&zz-64'])
    assert.equal(parseSubnetKey(key), undefined, key)
})

test('a value has fields of upstream, of which those without a value are left out', () => {
  const attributes = {
    publicIP: '192.168.64.3',
    publicIPv6: 'fd33::3',
    backendType: 'wireguard',
    backendData: { PublicKey: 'k' },
    backendV6Data: { PublicKey: 'k6' },
  }
  const text = leaseValue(attributes)
  assert.equal(
    text,
    '{"PublicIP":"192.168.64.3","PublicIPv6":"fd33::3","BackendType":"wireguard","BackendData":{"PublicKey":"k"},' +
      '"BackendV6Data":{"PublicKey":"k6"}}',
  )
  assert.deepEqual(parseLeaseValue(text), attributes)
  assert.equal(leaseValue({ backendType: '' }), '{"PublicIP":"0.0.0.0","PublicIPv6":null}')
  assert.equal(parseLeaseValue('{"PublicIP":"0.0.0.0","PublicIPv6":null}').publicIP, undefined)
  assert.throws(() => parseLeaseValue('{"PublicIP":"node-1"}'), /PublicIP is "node-1", which is no address/)
})
