/** flannel on three nodes of which one is behind a router: host-gw cannot work there, vxlan does. Needs root. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { inNamespaces } from '../kubelet/support/in-namespaces.ts'
import { waitFor } from '../support/wait-for.ts'
import { t8s } from '../up/t8s-process.ts'
import { Capture, vxlanPacket } from './capture.ts'
import { FlannelLab } from './flannel-lab.ts'
import { type FlannelNode, type LabPod, pings, receivedBytes } from './flannel-node.ts'

interface RouterLab {
  readonly lab: FlannelLab
  /** On one link. */
  readonly a: FlannelNode
  readonly b: FlannelNode
  /** Behind the router. */
  readonly c: FlannelNode
  readonly nodes: readonly FlannelNode[]
  /** By node. */
  readonly pods: Record<string, LabPod>
  /** Writes a configuration; returns its path. */
  readonly configure: (name: string, more: object, backend: object) => string
}

await inNamespaces(import.meta.filename, async () => {
  const lab = await startLab()
  test('host-gw names nodes without a common link, and connects the others', () => nameUnreachable(lab))
  test('rules in nftables are written again when somebody removes them, and leave with the mode', () =>
    keepNftables(lab))
  test('vxlan reaches a node behind a router, and DirectRouting encapsulates packets to such nodes only', () =>
    mixRoutes(lab))
  test('the interface is found by flags, and faults are named', () => nameFaults(lab))
})

async function startLab(): Promise<RouterLab> {
  const lab = await FlannelLab.start({ after })
  const a = await lab.node('a', 101, 'bridge', ['10.244.1.0/24'])
  const b = await lab.node('b', 102, 'bridge', ['10.244.2.0/24'])
  const c = await lab.node('c', 113, 'router', ['10.244.3.0/24'])
  const configure = (name: string, more: object, backend: object): string =>
    lab.configure(name, { Network: '10.244.0.0/16', ...more, Backend: backend })
  return { lab, a, b, c, nodes: [a, b, c], pods: {}, configure }
}

async function nameUnreachable({ lab, a, nodes, pods, configure }: RouterLab): Promise<void> {
  const config = configure('host-gw', { EnableNFTables: true }, { Type: 'host-gw' })
  await Promise.all(
    nodes.map((node) => node.start(config, '--ip-masq', '--healthz-ip', '127.0.0.1', '--healthz-port', '8081')),
  )
  const problem =
    'host-gw cannot reach the pods of the node c (192.168.113.2): it is behind the router 192.168.33.1. host-gw ' +
    'needs all nodes on one link: connect them, or use the backend vxlan with DirectRouting'
  await a.waitForOutput(problem)
  const event = await waitFor('the event', () => lab.event('a', 'FlannelNoCommonLink'))
  assert.equal(event, problem)
  const routes = a.run('ip', 'route')
  assert.match(routes, /^10\.244\.2\.0\/24 via 192\.168\.33\.102 dev eth0/m)
  assert.doesNotMatch(routes, /10\.244\.3\./)
  for (const node of nodes) pods[node.name] = node.pod(`pod-${node.name}`)
  assert.ok(pings(pods.a!, pods.b!.addresses[0]!))
  assert.equal(a.run('curl', '-s', 'http://127.0.0.1:8081/healthz'), 'flanneld is running')
  assert.equal(a.run('curl', '-s', 'http://127.0.0.1:8081/readyz'), 'flanneld is ready')
}

async function keepNftables({ a, configure }: RouterLab): Promise<void> {
  const rules = (): string => a.run('nft', 'list', 'ruleset')
  assert.match(rules(), /ip saddr 10\.244\.1\.0\/24 ip daddr 10\.244\.0\.0\/16 return/)
  assert.match(rules(), /ip saddr 10\.244\.0\.0\/16 ip daddr != 224\.0\.0\.0\/4 masquerade fully-random/)
  assert.doesNotMatch(rules(), /FLANNEL/)
  await a.stop()
  await a.start(
    configure('resync', { EnableNFTables: true }, { Type: 'host-gw' }),
    '--ip-masq',
    '--iptables-resync',
    '1',
  )
  a.run('nft', 'delete', 'table', 'ip', 'flannel-ipv4')
  await waitFor('the table', () => rules().includes('table ip flannel-ipv4'))
}

async function mixRoutes({ a, nodes, pods, configure }: RouterLab): Promise<void> {
  await Promise.all(nodes.map((node) => node.stop()))
  const config = configure('vxlan', {}, { Type: 'vxlan', VNI: 7, DirectRouting: true })
  await Promise.all(nodes.map((node) => node.start(config, '--ip-masq')))
  await waitFor('routes', () => {
    const routes = a.run('ip', 'route')
    return (
      /^10\.244\.2\.0\/24 via 192\.168\.33\.102 dev eth0/m.test(routes) &&
      /^10\.244\.3\.0\/24 via 10\.244\.3\.0 dev flannel\.7 onlink/m.test(routes)
    )
  })
  assert.doesNotMatch(a.run('nft', 'list', 'ruleset'), /flannel-ipv4/)
  assert.doesNotMatch(a.run('bridge', 'fdb'), /192\.168\.33\.102/)
  const link = await Capture.start('port-c', 'udp port 8472')
  await waitFor('an answer', () => pings(pods.a!, pods.c!.addresses[0]!))
  const [frame] = await link.frames(2)
  link.stop()
  const packet = vxlanPacket(frame!)!
  assert.deepEqual([packet.vni, packet.source, packet.destination], [7, '192.168.33.101', '192.168.113.2'])
  assert.ok(pings(pods.b!, pods.c!.addresses[0]!))
  assert.ok(pings(pods.a!, pods.b!.addresses[0]!))
  assert.equal(await receivedBytes(pods.c!, pods.a!, pods.c!.addresses[0]!), 1_048_576)
}

async function nameFaults({ c, configure }: RouterLab): Promise<void> {
  await c.stop()
  const config = configure('alloc', {}, { Type: 'alloc' })
  await c.start(config, '--iface-regex', '^192\\.168\\.1', '--public-ip', '203.0.113.9')
  assert.match(c.output, /Using interface with name eth0 and address 192\.168\.113\.2\n.*203\.0\.113\.9 as external/)
  await c.stop()
  c.spawn(config, '--iface', 'eth7')
  await c.ended()
  assert.match(c.output, /error looking up interface eth7: there is no such interface\. This machine has .*eth0 \[192/)
  c.spawn(configure('wrong', {}, { Type: 'teleport' }))
  await c.ended()
  assert.match(c.output, /unknown backend type: teleport\. Use one of .*alloc, .*host-gw.* as Backend\.Type/)
  const { code, stderr } = t8s(['flannel', '--ifaces', 'eth0'])
  assert.notEqual(code, 0)
  assert.match(stderr, /unknown flag: --ifaces/)
}
