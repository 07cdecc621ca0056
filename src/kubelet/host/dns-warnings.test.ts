import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Pod } from '../pod-types.ts'
import { DnsWarnings } from './dns-warnings.ts'

const podOf = (spec: object): Pod => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web', namespace: 'default', uid: 'u1' },
  spec: { containers: [], ...spec },
})

function warningsWith(clusterDns: readonly string[]) {
  const events: string[] = []
  const warnings = new DnsWarnings({
    settings: { clusterDns, clusterDomain: '', resolvConf: '' },
    ofNode: (reason, message) => events.push(`node ${reason} ${message}`),
    ofPod: (_, reason, message) => events.push(`pod ${reason} ${message}`),
  })
  return { warnings, events }
}

test('a pod that wants the DNS of the cluster is warned about once per sandbox', () => {
  const { warnings, events } = warningsWith([])
  for (const attempt of [0, 0, 1]) warnings.check(podOf({}), attempt)
  const sentence =
    'kubelet does not have ClusterDNS IP configured and cannot create Pod using "ClusterFirst" policy. ' +
    'Falling back to "Default" policy.'
  const once = [`node MissingClusterDNS ${sentence}`, `pod MissingClusterDNS pod: "web_default(u1)". ${sentence}`]
  assert.deepEqual(events, [...once, ...once])
})

test('there is no warning about pods that do not need the DNS of the cluster, or have it', () => {
  const without = warningsWith([])
  without.warnings.check(podOf({ dnsPolicy: 'Default' }), 0)
  without.warnings.check(podOf({ hostNetwork: true }), 0)
  const configured = warningsWith(['10.0.0.10'])
  configured.warnings.check(podOf({}), 0)
  assert.deepEqual([...without.events, ...configured.events], [])
})
