import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod, PodSpec } from '../pod-types.ts'
import { type DnsSettings, dnsConfigOf, lacksClusterDns } from './dns-config.ts'

const settings: DnsSettings = {
  clusterDns: ['10.96.0.10'],
  clusterDomain: 'cluster.local',
  resolvConf: '# of the node\nnameserver 192.0.2.1\nsearch example.com. .\noptions timeout:2\n',
}

const podOf = (spec: Partial<PodSpec>): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'shop' },
  spec: { containers: [], ...spec },
})

const node = { servers: ['192.0.2.1'], searches: ['example.com'], options: ['timeout:2'] }
const cluster = {
  servers: ['10.96.0.10'],
  searches: ['shop.svc.cluster.local', 'svc.cluster.local', 'cluster.local', 'example.com'],
  options: ['ndots:5'],
}

for (const [title, spec, expected] of [
  ['ClusterFirst', {}, cluster],
  ['ClusterFirst with the network of the node', { hostNetwork: true }, node],
  ['ClusterFirstWithHostNet', { hostNetwork: true, dnsPolicy: 'ClusterFirstWithHostNet' }, cluster],
  ['Default', { dnsPolicy: 'Default' }, node],
  [
    'None',
    { dnsPolicy: 'None', dnsConfig: { nameservers: ['192.0.2.9'], searches: ['a.b'], options: [{ name: 'debug' }] } },
    { servers: ['192.0.2.9'], searches: ['a.b'], options: ['debug'] },
  ],
  [
    'options of the pod in place of others',
    { dnsConfig: { options: [{ name: 'ndots', value: '1' }] } },
    { ...cluster, options: ['ndots:1'] },
  ],
] as const)
  test(`DNS of a pod: ${title}`, () =>
    assert.deepEqual(dnsConfigOf(podOf(spec as unknown as Partial<PodSpec>), settings), expected))

test('without a DNS service of the cluster, pods use the DNS of the node', () => {
  const none = { ...settings, clusterDns: [] }
  assert.deepEqual(dnsConfigOf(podOf({}), none), node)
  assert.equal(lacksClusterDns(podOf({}), none), true)
  assert.equal(lacksClusterDns(podOf({ dnsPolicy: 'Default' }), none), false)
})
