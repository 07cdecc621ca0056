import assert from 'node:assert/strict'
import { test } from 'node:test'
import { decodePolicy, encodePolicy, type TunnelPolicy } from '../../../netlink/xfrm/policies.ts'
import { connectionName, connectionSection, isOwnConnection, isOwnPolicy, peerPolicies } from './ipsec-peer.ts'
import { syncPolicies } from './ipsec-policies.ts'

const network = '10.244.0.0/16'
const own = { subnet: '10.244.1.0/24', address: '192.168.33.101' }
const peer = { subnet: '10.244.2.0/24', address: '192.168.33.102' }
const config = { udpEncap: false, espProposal: 'aes128gcm16-sha256-prfsha256-ecp256', presharedKey: 'secret' }
const name = '192.168.33.101-10.244.1.0/24-10.244.2.0/24-192.168.33.102'

test('a connection has upstream’s names and values, and no secret', () => {
  assert.equal(connectionName(own, peer), name)
  const section = connectionSection(own, peer, config)
  assert.deepEqual(section.children, {
    '10.244.1.0/24-10.244.2.0/24': {
      ...{ local_ts: ['10.244.1.0/24'], remote_ts: ['10.244.2.0/24'] },
      esp_proposals: ['aes128gcm16-sha256-prfsha256-ecp256'],
      ...{ start_action: 'start', close_action: 'trap', dpd_action: 'restart', mode: 'tunnel', reqid: '11' },
      ...{ rekey_time: '1h', policies: 'no' },
    },
  })
  assert.deepEqual([section.encap, section.version, section.keyingtries], ['no', '2', '0'])
  assert.equal(connectionSection(own, peer, { ...config, udpEncap: true }).encap, 'yes')
  assert.doesNotMatch(JSON.stringify(section), /secret/)
})

test('a policy is the bytes of linux/xfrm.h, which decode to the same policy', () => {
  const policies = peerPolicies(own, peer)
  assert.deepEqual(
    policies.map((policy) => decodePolicy(encodePolicy(policy))),
    policies,
  )
  const [out] = policies
  const hex = encodePolicy(out!).toString('hex')
  const selector = `0af40200${'00'.repeat(12)}0af40100${'00'.repeat(12)}${'00'.repeat(8)}02001818${'00'.repeat(12)}`
  const limits = `${'ff'.repeat(32)}${'00'.repeat(32)}`
  assert.equal(hex.slice(0, 336), `${selector}${limits}${'00'.repeat(32)}${'00'.repeat(8)}01000000${'00'.repeat(4)}`)
  const template = `c0a82166${'00'.repeat(16)}32000000${'02000000'}c0a82165${'00'.repeat(12)}0b00000001000000`
  assert.equal(hex.slice(336), `44000500${template}${'ff'.repeat(12)}`)
})

test('only policies and connections of flannel’s network are its own', () => {
  const [out] = peerPolicies(own, peer)
  assert.ok(isOwnPolicy(network, out!))
  assert.ok(!isOwnPolicy(network, { ...out!, requestId: 1 }))
  assert.ok(!isOwnPolicy(network, { ...out!, destination: '10.96.0.0/16' }))
  assert.ok(!isOwnPolicy(network, { ...out!, destination: network }))
  assert.ok(isOwnConnection(network, name))
  for (const other of ['office', '1.1.1.1-10.1.0.0/24-10.244.2.0/24-1.1.1.2', `${name}-2`])
    assert.ok(!isOwnConnection(network, other), other)
})

test('policies that differ are written, and stale ones of flannel are removed', () => {
  const wanted = peerPolicies(own, peer)
  const foreign: TunnelPolicy = { ...wanted[0]!, destination: '10.9.0.0/24', requestId: 7 }
  const stale: TunnelPolicy = { ...wanted[1]!, source: '10.244.9.0/24' }
  const moved: TunnelPolicy = { ...wanted[2]!, tunnelSource: '192.168.33.99' }
  const done: TunnelPolicy[] = []
  const lines = syncPolicies(
    {
      list: () => [wanted[0]!, moved, stale, foreign],
      set: (policy) => done.push(policy),
      remove: (policy) => done.push(policy),
    },
    wanted,
    (policy) => isOwnPolicy(network, policy),
  )
  assert.deepEqual(done, [wanted[1], wanted[2], stale])
  assert.deepEqual(lines, [
    'policy in 10.244.2.0/24 > 10.244.1.0/24 by 192.168.33.102 > 192.168.33.101',
    'policy fwd 10.244.2.0/24 > 10.244.1.0/24 by 192.168.33.102 > 192.168.33.101',
    'no policy in 10.244.9.0/24 > 10.244.1.0/24',
  ])
})
