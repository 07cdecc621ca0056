/** flannel on three nodes with a common link. Needs root. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { after, test } from 'node:test'
import { inNamespaces } from '../kubelet/support/in-namespaces.ts'
import { waitFor } from '../support/wait-for.ts'
import { Capture, plainPacket, vxlanPacket } from './capture.ts'
import { FlannelLab } from './flannel-lab.ts'
import { type FlannelNode, inPod, type LabPod, pings, reachEachOther, receivedBytes } from './flannel-node.ts'
import { closeWithoutLoss, OpenConnection } from './open-connection.ts'

const macOf = (node: FlannelNode): string => /link\/ether (\S+)/.exec(node.run('ip', 'link', 'show', 'flannel.1'))![1]!

interface BridgeLab {
  readonly lab: FlannelLab
  readonly a: FlannelNode
  readonly b: FlannelNode
  readonly c: FlannelNode
  /** Files with configurations. */
  readonly vxlan: string
  readonly hostGw: string
  /** Pods on the nodes a and b. */
  readonly pods: { a?: LabPod; b?: LabPod }
}

await inNamespaces(import.meta.filename, async () => {
  const lab = await startLab()
  test('vxlan gives nodes that start at one time a route, an ARP entry and an FDB entry for each other', () =>
    startTogether(lab))
  test('the CNI plug-in gives pods addresses of their node and routes by its bridge', () => connectPods(lab))
  test('packets between pods travel in UDP packets between nodes, and a megabyte arrives', () => encapsulate(lab))
  test('no packet and no open connection is lost while flannel is killed and started again', () => killAndRestart(lab))
  test('a node that left while flannel was down leaves nothing behind, and returns with another address and MAC', () =>
    leaveAndReturn(lab))
  test('a Node that is deleted and created again while flannel runs is annotated again', () => recreateNode(lab))
  test('what others remove or change in the kernel is restored', () => restoreChanges(lab))
  test('host-gw replaces vxlan by routes through the nodes, and packets are not encapsulated', () =>
    replaceByHostGw(lab))
  test('vxlan and host-gw connect pods that have addresses of IPv6 only', () => connectIPv6(lab))
  test('the CNI plug-in disconnects pods', () => disconnectPods(lab))
})

async function startLab(): Promise<BridgeLab> {
  const lab = await FlannelLab.start({ after })
  const network = { Network: '10.244.0.0/16', IPv6Network: 'fd10:244::/56', EnableIPv6: true }
  return {
    lab,
    a: await lab.node('a', 101, 'bridge', ['10.244.1.0/24', 'fd10:244:0:1::/64']),
    b: await lab.node('b', 102, 'bridge', ['10.244.2.0/24', 'fd10:244:0:2::/64']),
    c: await lab.node('c', 103, 'bridge', ['10.244.3.0/24', 'fd10:244:0:3::/64']),
    vxlan: lab.configure('vxlan', { ...network, Backend: { Type: 'vxlan' } }),
    hostGw: lab.configure('host-gw', { ...network, Backend: { Type: 'host-gw' } }),
    pods: {},
  }
}

/** The pods of the nodes a and b, and the addresses of the second one. */
function podsOf({ pods: { a, b } }: BridgeLab) {
  assert.ok(a && b, 'the pods are connected')
  const [addressB = '', addressB6 = ''] = b.addresses
  return { podA: a, podB: b, addressB, addressB6 }
}

async function startTogether({ lab, a, b, c, vxlan }: BridgeLab): Promise<void> {
  await Promise.all([a, b, c].map((node) => node.start(vxlan, '--ip-masq')))
  for (const [node, others] of [
    [a, [b, c]],
    [b, [a, c]],
    [c, [a, b]],
  ] as const)
    for (const other of others) await hasEntries(node, other)
  assert.equal(
    a.subnetEnvironment(),
    'FLANNEL_NETWORK=10.244.0.0/16\nFLANNEL_SUBNET=10.244.1.1/24\nFLANNEL_IPV6_NETWORK=fd10:244::/56\n' +
      'FLANNEL_IPV6_SUBNET=fd10:244:0:1::1/64\nFLANNEL_MTU=1430\nFLANNEL_IPMASQ=true\n',
  )
  const device = a.run('ip', '-d', 'address', 'show', 'flannel.1')
  assert.match(device, /mtu 1450[\s\S]*vxlan id 1 local 192\.168\.33\.101 dev eth0 .*dstport 8472 nolearning/)
  assert.match(device, /inet 10\.244\.1\.0\/32 scope global/)
  const prefix = 'flannel.alpha.coreos.com'
  const annotations = await lab.annotations('a')
  assert.equal(annotations[`${prefix}/backend-type`], 'vxlan')
  assert.equal(annotations[`${prefix}/backend-data`], `{"VNI":1,"VtepMAC":"${macOf(a)}"}`)
  assert.equal(annotations[`${prefix}/public-ip`], '192.168.33.101')
  assert.equal(annotations[`${prefix}/public-ipv6`], 'fd33::101')
  assert.equal(annotations[`${prefix}/kube-subnet-manager`], 'true')
  const condition = await waitFor('the condition', () => lab.condition('a', 'NetworkUnavailable'))
  assert.deepEqual(condition, ['False', 'FlannelIsUp', 'Flannel is running on this node'])
}

function connectPods({ a, b, pods }: BridgeLab): void {
  const [podA, podB] = [a.pod('pod-a'), b.pod('pod-b')]
  Object.assign(pods, { a: podA, b: podB })
  assert.deepEqual(podB.addresses, ['10.244.2.2', 'fd10:244:0:2::2'])
  const routes = inPod(podA, 'ip', 'route')
  assert.match(routes, /^default via 10\.244\.1\.1 dev eth0/m)
  assert.match(routes, /^10\.244\.0\.0\/16 via 10\.244\.1\.1 dev eth0/m)
  assert.match(inPod(podA, 'ip', 'link', 'show', 'eth0'), /mtu 1430/)
  assert.match(a.run('ip', 'route'), /^10\.244\.1\.0\/24 dev cni0 proto kernel scope link src 10\.244\.1\.1/m)
}

async function encapsulate(bridge: BridgeLab): Promise<void> {
  const { a, b } = bridge
  const { podA, podB, addressB, addressB6 } = podsOf(bridge)
  const capture = await Capture.start('switch', 'udp port 8472')
  assert.ok(pings(podA, addressB))
  const packets = (await capture.frames(2)).map(vxlanPacket)
  capture.stop()
  const [request, reply] = packets
  assert.deepEqual(request, {
    source: '192.168.33.101',
    destination: '192.168.33.102',
    port: 8472,
    vni: 1,
    innerSourceMac: macOf(a),
    innerDestinationMac: macOf(b),
    innerSource: podA.addresses[0],
    innerDestination: addressB,
  })
  assert.deepEqual([reply!.innerSource, reply!.innerDestination], [addressB, podA.addresses[0]])
  await waitFor('an answer of IPv6', () => pings(podA, addressB6))
  // 28 bytes are headers: the largest packet passes whole, and none larger is sent.
  assert.ok(pings(podA, addressB, '-M', 'do', '-s', '1402'))
  assert.ok(!pings(podA, addressB, '-M', 'do', '-s', '1403'))
  for (const address of [addressB, addressB6]) assert.equal(await receivedBytes(podB, podA, address), 1_048_576)
  // The node itself, and the world: only packets that leave the network get the node's address.
  a.run('ping', '-c1', '-W2', addressB)
  assert.ok(pings(podA, '192.168.33.1'))
}

/** Kills flannel and starts it again, while packets pass all the time. */
async function restartUnderLoad({ a, ...bridge }: BridgeLab, config: string): Promise<void> {
  const { podA, podB, addressB, addressB6 } = podsOf({ a, ...bridge })
  const ping = spawn('nsenter', [`--net=${podA.namespace}`, 'ping', '-n', '-i', '0.02', '-W', '2', addressB])
  const output = text(ping.stdout)
  const connection = await OpenConnection.open(podA, podB, addressB6)
  await a.kill()
  await a.start(config, '--ip-masq')
  await closeWithoutLoss(connection)
  ping.kill('SIGINT')
  await once(ping, 'exit')
  assert.match(await output, / 0% packet loss/)
}

async function killAndRestart(bridge: BridgeLab): Promise<void> {
  const { a, vxlan } = bridge
  const mac = macOf(a)
  const index = a.run('ip', '-o', 'link', 'show', 'flannel.1')
  await restartUnderLoad(bridge, vxlan)
  assert.equal(macOf(a), mac)
  assert.equal(a.run('ip', '-o', 'link', 'show', 'flannel.1'), index)
  assert.doesNotMatch(a.output, /vxlan: |traffic rules were missing/, 'nothing is changed')
}

async function leaveAndReturn({ lab, a, b, c, vxlan }: BridgeLab): Promise<void> {
  const mac = macOf(c)
  await a.kill()
  await c.kill()
  const node = await lab.removeNode('c')
  await a.start(vxlan, '--ip-masq')
  for (const entries of [
    a.run('ip', 'route'),
    a.run('ip', 'neigh'),
    a.run('bridge', 'fdb'),
    a.run('ip', '-6', 'route'),
  ])
    assert.doesNotMatch(entries, /10\.244\.3\.|192\.168\.33\.103|0:3::|fd33::103/)
  assert.ok(!a.run('bridge', 'fdb').includes(mac))

  c.run('ip', 'link', 'delete', 'flannel.1')
  lab.joinBridge(c, 113)
  await lab.addNode(node)
  await c.start(vxlan, '--ip-masq')
  assert.notEqual(macOf(c), mac)
  for (const other of [a, b]) await hasEntries(other, c, 113)
  assert.ok(!b.run('bridge', 'fdb').includes(mac), 'the former MAC address')
}

async function recreateNode({ lab, a, b, c }: BridgeLab): Promise<void> {
  const node = await lab.removeNode('c')
  await waitFor('no route', () => !a.run('ip', 'route').includes('10.244.3.0/24'))
  await lab.addNode(node)
  for (const other of [a, b]) await hasEntries(other, c, 113)
  assert.ok(await waitFor('the condition', () => lab.condition('c', 'NetworkUnavailable')))
}

async function restoreChanges(bridge: BridgeLab): Promise<void> {
  const { a, b } = bridge
  const { podA, addressB } = podsOf(bridge)
  a.run('ip', 'route', 'delete', '10.244.2.0/24')
  a.run('ip', 'neigh', 'replace', '10.244.2.0', 'lladdr', '02:00:00:00:00:01', 'dev', 'flannel.1')
  await hasEntries(a, b)
  const mac = macOf(a)
  a.run('ip', 'link', 'delete', 'flannel.1')
  await waitFor('a route', () => a.run('ip', 'route').includes('10.244.2.0/24 via 10.244.2.0 dev flannel.1 onlink'))
  assert.equal(macOf(a), mac)
  await waitFor('an answer', () => pings(podA, addressB))
  a.run('iptables', '-t', 'nat', '-F', 'FLANNEL-POSTRTG')
  await waitFor('rules', () => a.run('iptables-save', '-t', 'nat').includes('-A FLANNEL-POSTRTG -s 10.244.1.0/24'))
}

async function replaceByHostGw(bridge: BridgeLab): Promise<void> {
  const { a, b, c, hostGw } = bridge
  const { podA, podB, addressB, addressB6 } = podsOf(bridge)
  await Promise.all([a, b, c].map((node) => node.stop()))
  await Promise.all([a, b, c].map((node) => node.start(hostGw, '--ip-masq')))
  const routes = (): string => a.run('ip', 'route') + a.run('ip', '-6', 'route')
  await waitFor('routes', () =>
    [
      '10.244.2.0/24 via 192.168.33.102 dev eth0',
      '10.244.3.0/24 via 192.168.33.113 dev eth0',
      'via fd33::102 dev eth0',
    ].every((route) => routes().includes(route)),
  )
  assert.doesNotMatch(routes(), /onlink/)
  assert.match(a.subnetEnvironment(), /^FLANNEL_MTU=1500$/m)
  const capture = await Capture.start('switch', 'icmp')
  await waitFor('an answer', () => pings(podA, addressB))
  const frames = await capture.frames(2)
  capture.stop()
  assert.deepEqual(plainPacket(frames[0]!), { source: podA.addresses[0], destination: addressB })
  assert.ok(pings(podA, addressB6))
  assert.equal(await receivedBytes(podB, podA, addressB), 1_048_576)
  a.run('ip', 'route', 'delete', '10.244.2.0/24')
  await waitFor('the route', () => routes().includes('10.244.2.0/24 via 192.168.33.102 dev eth0'))
  await restartUnderLoad(bridge, hostGw)
  // A node that changes its address.
  await b.stop()
  b.run('ip', 'address', 'add', '192.168.33.112/24', 'dev', 'eth0')
  await b.start(hostGw, '--iface', '192.168.33.112')
  await waitFor('the route', () => routes().includes('10.244.2.0/24 via 192.168.33.112 dev eth0'))
}

async function connectIPv6({ lab, a, b, c }: BridgeLab): Promise<void> {
  for (const node of [a, b, c]) await node.stop()
  const d = await lab.node('d', 104, 'bridge', ['fd10:244:0:4::/64'])
  const e = await lab.node('e', 105, 'bridge', ['fd10:244:0:5::/64'])
  const network = { EnableIPv4: false, EnableIPv6: true, IPv6Network: 'fd10:244::/56' }
  const start = async (Type: string): Promise<void> => {
    const config = lab.configure(`ipv6-${Type}`, { ...network, Backend: { Type } })
    await Promise.all([d, e].map((node) => node.start(config, '--ip-masq')))
  }
  await start('vxlan')
  assert.equal(
    d.subnetEnvironment(),
    'FLANNEL_IPV6_NETWORK=fd10:244::/56\nFLANNEL_IPV6_SUBNET=fd10:244:0:4::1/64\nFLANNEL_MTU=1430\n' +
      'FLANNEL_IPMASQ=true\n',
  )
  const [podD, podE] = [d.pod('pod-d'), e.pod('pod-e')]
  assert.deepEqual(podE.addresses, ['fd10:244:0:5::2'])
  await reachEachOther([podD, podE])
  assert.equal(await receivedBytes(podE, podD, podE.addresses[0]!), 1_048_576)
  assert.match(d.run('ip', '-6', 'route'), /^fd10:244:0:5::\/64 via fd10:244:0:5:: dev flannel-v6\.1 .*onlink/m)
  const annotations = Object.keys(await lab.annotations('d'))
  assert.ok(annotations.includes('flannel.alpha.coreos.com/public-ipv6'))
  assert.ok(!annotations.includes('flannel.alpha.coreos.com/public-ip'))
  assert.doesNotMatch(d.run('ip', 'link'), /flannel\.1/)
  for (const node of [d, e]) await node.stop()
  await start('host-gw')
  await waitFor('a route', () => /^fd10:244:0:5::\/64 via fd33::105 dev eth0/m.test(d.run('ip', '-6', 'route')))
  await reachEachOther([podD, podE])
}

function disconnectPods(bridge: BridgeLab): void {
  const { a } = bridge
  const { podA } = podsOf(bridge)
  a.cni('DEL', podA.id)
  assert.throws(() => inPod(podA, 'ip', 'link', 'show', 'eth0'))
  a.cni('DEL', podA.id)
}

/** Waits for the entries of another node of the backend vxlan. */
async function hasEntries(node: FlannelNode, other: FlannelNode, number?: number): Promise<void> {
  const pod = { a: 1, b: 2, c: 3 }[other.name]
  const host = number ?? { a: 101, b: 102, c: 103 }[other.name]
  const mac = macOf(other)
  await waitFor(`entries of ${other.name} on ${node.name}`, () => {
    const routes = node.run('ip', 'route') + node.run('ip', '-6', 'route')
    assert.ok(routes.includes(`10.244.${pod}.0/24 via 10.244.${pod}.0 dev flannel.1 onlink`), routes)
    assert.match(routes, new RegExp(`^fd10:244:0:${pod}::/64 via fd10:244:0:${pod}:: dev flannel-v6\\.1 .*onlink`, 'm'))
    assert.ok(node.run('ip', 'neigh').includes(`10.244.${pod}.0 dev flannel.1 lladdr ${mac} PERMANENT`))
    assert.ok(node.run('bridge', 'fdb').includes(`${mac} dev flannel.1 dst 192.168.33.${host} self permanent`))
    return true
  })
}
