import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parseNetworkConfig } from '../../../network/flannel/config/network-config.ts'
import { joinedNetwork } from './joined-network.ts'

const podRanges = ['10.128.0.0/9']
const network = '{"Network":"10.128.0.0/9","Backend":{"Type":"vxlan","VNI":7}}'

test('a node uses the network of the cluster as it is', () => {
  for (const backend of [undefined, 'vxlan']) assert.equal(joinedNetwork({ network, podRanges }, backend), network)
})

test('a flag with another backend is an error', () => {
  assert.throws(
    () => joinedNetwork({ network, podRanges }, 'host-gw'),
    /by the backend vxlan \(ConfigMap kube-flannel\/kube-flannel-cfg\), not by host-gw: leave out --network-backend/,
  )
})

test('a cluster that publishes no network has the usual one, or that of the flag', () => {
  const backendOf = (backend?: string) => parseNetworkConfig(joinedNetwork({ podRanges }, backend) ?? '').backend
  assert.deepEqual(backendOf(), { Type: 'vxlan', DirectRouting: true })
  assert.deepEqual(backendOf('host-gw'), { Type: 'host-gw' })
  assert.equal(joinedNetwork({ podRanges: [] }, undefined), undefined)
})

test('a network that cannot be read is an error with a command', () => {
  assert.throws(() => joinedNetwork({ network: '{', podRanges }, undefined), /kubectl -n kube-flannel edit configmap/)
})
