import assert from 'node:assert/strict'
import { test } from 'node:test'
import { dockerOptions } from './docker-options.ts'
import { parseSubnetFile, subnetFileText } from './subnet-file.ts'

const file = {
  network: '10.244.0.0/16',
  subnet: '10.244.1.0/24',
  ipv6Network: 'fd00:10::/48',
  ipv6Subnet: 'fd00:10:0:1::/64',
  mtu: 1430,
  masquerade: true,
}

test('subnet.env has the address of the bridge, and is read as it was written', () => {
  const text = subnetFileText(file)
  assert.equal(
    text,
    'FLANNEL_NETWORK=10.244.0.0/16\nFLANNEL_SUBNET=10.244.1.1/24\nFLANNEL_IPV6_NETWORK=fd00:10::/48\n' +
      'FLANNEL_IPV6_SUBNET=fd00:10:0:1::1/64\nFLANNEL_MTU=1430\nFLANNEL_IPMASQ=true\n',
  )
  assert.deepEqual(parseSubnetFile(text, '/f'), file)
})

test('a file of a shell and several networks are read', () => {
  const text =
    'export FLANNEL_NETWORK="10.1.0.0/16,10.2.0.0/16"\nFLANNEL_SUBNET=10.1.5.1/24\n' +
    'FLANNEL_MTU=1472\nFLANNEL_IPMASQ=false\n'
  const { network, subnet, masquerade, ipv6Subnet } = parseSubnetFile(text, '/f')
  assert.deepEqual([network, subnet, masquerade, ipv6Subnet], ['10.1.0.0/16', '10.1.5.0/24', false, undefined])
})

test('missing and wrong values are named', () => {
  assert.throws(() => parseSubnetFile('', '/f'), {
    message:
      '/f is missing FLANNEL_NETWORK, FLANNEL_IPV6_NETWORK, FLANNEL_SUBNET, FLANNEL_IPV6_SUBNET, FLANNEL_MTU, ' +
      'FLANNEL_IPMASQ',
  })
  assert.throws(() => parseSubnetFile('FLANNEL_SUBNET=here', '/f'), { message: /FLANNEL_SUBNET=here is not a range/ })
})

test('options of Docker are those of mk-docker-opts.sh', () => {
  const four = { ...file, ipv6Network: undefined, ipv6Subnet: undefined }
  assert.equal(
    dockerOptions(four, { individual: true, combined: 'DOCKER_OPTS', masquerade: true }),
    'DOCKER_OPT_BIP="--bip=10.244.1.1/24"\nDOCKER_OPT_IPMASQ="--ip-masq=false"\nDOCKER_OPT_MTU="--mtu=1430"\n' +
      'DOCKER_OPTS=" --bip=10.244.1.1/24 --ip-masq=false --mtu=1430"\n',
  )
  assert.equal(
    dockerOptions(file, { individual: false, combined: 'OPTIONS', masquerade: false }),
    'OPTIONS=" --bip=10.244.1.1/24 --ipv6 --fixed-cidr-v6=fd00:10:0:1::/64 --mtu=1430"\n',
  )
})
