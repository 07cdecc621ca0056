import assert from 'node:assert/strict'
import { test } from 'node:test'
import { fromYaml } from '../../machinery/yaml.ts'
import { flannelManifest, type ManifestOptions } from './manifest.ts'

const options = { image: 'image:1', network: '10.244.0.0/16', backend: 'vxlan', namespace: 'kube-flannel' }
const secret = 'f'.repeat(96)

const objectsOf = (more: Partial<ManifestOptions>): Map<string, string> =>
  new Map(
    flannelManifest({ ...options, ...more })
      .split('---\n')
      .map((text) => [/^kind: (.*)$/m.exec(text)![1]!, JSON.stringify(fromYaml(text))]),
  )

test('a configuration without a secret is in the ConfigMap, and flannel has two capabilities and no device', () => {
  const objects = objectsOf({ nftables: true })
  assert.ok(!objects.has('Secret'))
  assert.match(objects.get('ConfigMap')!, /EnableNFTables\\": true.*Type\\": \\"vxlan/)
  const daemonSet = objects.get('DaemonSet')!
  assert.match(daemonSet, /"capabilities":{"add":\["NET_ADMIN","NET_RAW"\]},"privileged":false/)
  assert.doesNotMatch(daemonSet, /\/dev\/net\/tun/)
})

test('a configuration with a PSK is in a Secret', () => {
  const objects = objectsOf({ backend: 'ipsec', psk: secret })
  assert.match(objects.get('Secret')!, new RegExp(`"net-conf.json":".*${secret}`))
  for (const kind of ['ConfigMap', 'DaemonSet']) assert.ok(!objects.get(kind)!.includes(secret))
  assert.doesNotMatch(objects.get('ConfigMap')!, /net-conf/)
  assert.match(objects.get('DaemonSet')!, /"secret":{"items":.*"name":"kube-flannel-net-conf"/)
})

test('the backend udp has the device of TUN', () => {
  const daemonSet = objectsOf({ backend: 'udp' }).get('DaemonSet')!
  assert.match(daemonSet, /"hostPath":{"path":"\/dev\/net\/tun","type":"CharDevice"}/)
  assert.match(daemonSet, /"privileged":true/)
})

test('options with which flannel would not start are rejected with a remedy', () => {
  const cases = [
    [{ backend: 'ipsec' }, /PSK is missing: .*openssl rand -hex 48 prints one.*--psk-file FILE/],
    [{ backend: 'wireguard', psk: 'no key' }, /PSK must be a key that wg genpsk prints/],
    [{ psk: secret }, /the backend vxlan has no PSK: leave out --psk-file/],
    [{ network: '10.244.0.0' }, /Network is "10.244.0.0": it must be a range/],
  ] as const
  for (const [more, message] of cases) assert.throws(() => objectsOf(more), message)
})
