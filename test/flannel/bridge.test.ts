/** flannel on three nodes with a common link. Needs root. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { inNamespaces } from '../kubelet/support/in-namespaces.ts'
import { FlannelLab } from './flannel-lab.ts'

await inNamespaces(import.meta.filename, async () => {
  const lab = await FlannelLab.start({ after })
  const a = await lab.node('a', 101, 'bridge', ['10.244.1.0/24', 'fd10:244:0:1::/64'])
  const b = await lab.node('b', 102, 'bridge', ['10.244.2.0/24', 'fd10:244:0:2::/64'])
  const c = await lab.node('c', 103, 'bridge', ['10.244.3.0/24', 'fd10:244:0:3::/64'])
  const network = { Network: '10.244.0.0/16', IPv6Network: 'fd10:244::/56', EnableIPv6: true }

  test('vxlan gives each node a route, an ARP entry and an FDB entry for each other node', async () => {
    const config = lab.configure({ ...network, Backend: { Type: 'vxlan' } })
    await Promise.all([a, b, c].map((node) => node.start(config, '--ip-masq')))
    assert.match(a.run('ip', 'route'), /^10\.244\.2\.0\/24 via 10\.244\.2\.0 dev flannel\.1 onlink/m)
  })
})
