/** The backend udp on three nodes with a common link, of which one moves behind a router. Needs root. */
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { inNamespaces } from '../kubelet/support/in-namespaces.ts'
import { waitFor } from '../support/wait-for.ts'
import { Capture, plainPacket } from './capture.ts'
import { FlannelLab } from './flannel-lab.ts'
import { type FlannelNode, inPod, type LabPod, pings, reachEachOther, receivedBytes } from './flannel-node.ts'
import { OpenConnection } from './open-connection.ts'

interface UdpLab {
  readonly lab: FlannelLab
  readonly a: FlannelNode
  readonly b: FlannelNode
  readonly c: FlannelNode
  readonly config: string
  readonly podA: LabPod
  readonly podB: LabPod
  readonly podC: LabPod
}

/** Ethernet, IPv4 and UDP. */
const headers = 14 + 20 + 8

await inNamespaces(import.meta.filename, async () => {
  const lab = await FlannelLab.start({ after })
  const a = await lab.node('a', 101, 'bridge', ['10.244.1.0/24'])
  const b = await lab.node('b', 102, 'bridge', ['10.244.2.0/24'])
  const c = await lab.node('c', 103, 'bridge', ['10.244.3.0/24'])
  const config = lab.configure('udp', { Network: '10.244.0.0/16', Backend: { Type: 'udp' } })
  await Promise.all([a, b, c].map((node) => node.start(config, '--ip-masq')))
  const pods = { podA: a.pod('pod-a'), podB: b.pod('pod-b'), podC: c.pod('pod-c') }
  const all = { lab, a, b, c, config, ...pods }
  test('udp gives a node a TUN device with a route to all pods, and publishes no type', () => describe(all))
  test('packets between pods travel in UDP packets of the port 8285 as they are', () => carry(all))
  test('a node that moves behind a router is reached there', () => move(all))
  test('a packet to a subnet without a node gets the error “network unreachable”', () => reject(all))
  test('an open connection survives a restart, and a removed device is created again', () => restart(all))
})

async function describe({ lab, a }: UdpLab): Promise<void> {
  const device = a.run('ip', '-d', 'address', 'show', 'flannel0')
  assert.match(device, /mtu 1472[\s\S]*tun type tun pi off[\s\S]*inet 10\.244\.1\.0\/32/)
  assert.match(a.run('ip', 'route'), /^10\.244\.0\.0\/16 dev flannel0/m)
  assert.match(a.subnetEnvironment(), /^FLANNEL_MTU=1472$/m)
  const annotations = await lab.annotations('a')
  assert.equal(annotations['flannel.alpha.coreos.com/backend-type'], '')
  assert.equal(annotations['flannel.alpha.coreos.com/public-ip'], '192.168.33.101')
}

async function carry({ podA, podB, podC }: UdpLab): Promise<void> {
  const [address = ''] = podB.addresses
  await reachEachOther([podA, podB, podC])
  const capture = await Capture.start('switch', 'udp port 8285')
  assert.ok(pings(podA, address))
  const [frame] = await capture.frames(2)
  capture.stop()
  assert.deepEqual(plainPacket(frame!), { source: '192.168.33.101', destination: '192.168.33.102' })
  const inner = frame!.subarray(headers)
  assert.equal(inner[0], 0x45)
  // The pod's node and flannel each lower it by one.
  assert.equal(inner[8], 62)
  assert.equal([...inner.subarray(12, 20)].join('.'), [podA.addresses[0], address].join('.'))
  assert.ok(pings(podA, address, '-M', 'do', '-s', '1444'))
  assert.ok(!pings(podA, address, '-M', 'do', '-s', '1445'))
  assert.equal(await receivedBytes(podB, podA, address), 1_048_576)
}

async function move({ lab, c, config, podA, podB, podC }: UdpLab): Promise<void> {
  await c.stop()
  lab.joinRouter(c, 113)
  const capture = await Capture.start('port-c', 'udp port 8285')
  await c.start(config, '--ip-masq')
  await reachEachOther([podA, podB, podC])
  const frames = (await capture.frames(2)).map(plainPacket)
  capture.stop()
  for (const packet of frames) assert.ok(Object.values(packet!).includes('192.168.113.2'))
  assert.equal(await receivedBytes(podC, podA, podC.addresses[0]!), 1_048_576)
}

function reject({ podA }: UdpLab): void {
  // The node, then flannel: “!N” is the error.
  const ways = inPod(podA, 'busybox', 'traceroute', '-n', '-q', '1', '-w', '2', '-m', '3', '10.244.9.9')
  assert.match(ways, /10\.244\.9\.9 .* !N/)
}

async function restart({ a, config, podA, podB }: UdpLab): Promise<void> {
  const [address = ''] = podB.addresses
  const connection = await OpenConnection.open(podA, podB, address)
  const killedAt = performance.now()
  await a.kill()
  assert.match(a.run('ip', 'route'), /^10\.244\.0\.0\/16 dev flannel0/m)
  await a.start(config, '--ip-masq')
  const interruptedMs = performance.now() - killedAt
  await waitFor('an answer', () => pings(podA, address))
  // Packets pass through flannel itself: those of the meantime are lost, and TCP sends them again. Its pauses double,
  // so the first packet after the interruption comes before as much time has passed once more.
  const { longestStallMs } = await connection.close()
  assert.ok(longestStallMs < 2 * interruptedMs + 1000, `${longestStallMs} ms, flannel was away ${interruptedMs} ms`)
  a.run('ip', 'link', 'delete', 'flannel0')
  await waitFor('the device', () => a.run('ip', 'route').includes('10.244.0.0/16 dev flannel0'))
  await waitFor('an answer', () => pings(podA, address))
  assert.match(inPod(podA, 'ip', 'route', 'get', address), /via 10\.244\.1\.1/)
}
