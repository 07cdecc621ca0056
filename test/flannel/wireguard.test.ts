/**
 * The backend wireguard on three nodes, one behind a router, with WireGuard as a program: this kernel may have none.
 * Needs root.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { inNamespaces } from '../kubelet/support/in-namespaces.ts'
import { waitFor } from '../support/wait-for.ts'
import { Capture, plainPacket } from './capture.ts'
import { FlannelLab } from './flannel-lab.ts'
import { type FlannelNode, type LabPod, pings, reachEachOther, receivedBytes } from './flannel-node.ts'
import { closeWithoutLoss, OpenConnection } from './open-connection.ts'

interface WireguardLab {
  readonly lab: FlannelLab
  readonly a: FlannelNode
  readonly b: FlannelNode
  /** Behind a router. */
  readonly c: FlannelNode
  readonly config: string
  readonly pods: Record<string, LabPod>
}

const skip = spawnSync('wireguard-go', ['--version']).error ? 'wireguard-go is not installed' : false
const device = 'flannel-wg'
const programs: ChildProcess[] = []

await inNamespaces(import.meta.filename, async () => {
  const lab = await FlannelLab.start({ after })
  after(() => programs.forEach((program) => void program.kill('SIGKILL')))
  const config = lab.configure('wireguard', {
    ...{ Network: '10.244.0.0/16', IPv6Network: 'fd10:244::/56', EnableIPv6: true },
    Backend: {
      Type: 'wireguard',
      Mode: 'auto',
      PSK: randomBytes(32).toString('base64'),
      PersistentKeepaliveInterval: 25,
    },
  })
  const all: WireguardLab = {
    ...{ lab, config, pods: {} },
    a: await lab.node('a', 101, 'bridge', ['10.244.1.0/24', 'fd10:244:0:1::/64']),
    b: await lab.node('b', 102, 'bridge', ['10.244.2.0/24', 'fd10:244:0:2::/64']),
    c: await lab.node('c', 113, 'router', ['10.244.3.0/24', 'fd10:244:0:3::/64']),
  }
  test('a kernel without WireGuard is reported with its module and the program', { skip }, () => nameModule(all))
  test('wireguard connects pods of both families by one tunnel', { skip }, () => connect(all))
  test('packets between nodes are encrypted, and a megabyte arrives', { skip }, () => encrypt(all))
  test('a restart loses nothing of an open connection, and a node that left is no peer any more', { skip }, () =>
    restart(all),
  )
})

async function nameModule({ a, config }: WireguardLab): Promise<void> {
  // A kernel that has WireGuard is not at fault.
  if (spawnSync('ip', ['link', 'add', 'wg0', 'type', 'wireguard']).status === 0) return
  a.spawn(config)
  await a.ended()
  assert.match(a.output, /lacks the module wireguard\. Load it with modprobe wireguard .*start wireguard-go flannel-wg/)
}

async function connect({ lab, a, b, c, config, pods }: WireguardLab): Promise<void> {
  const nodes = [a, b, c]
  for (const node of nodes) await startProgram(node)
  await Promise.all(nodes.map((node) => startFlannel(node, config)))
  for (const node of nodes) pods[node.name] = node.pod(`pod-${node.name}`)
  await reachEachOther(Object.values(pods))
  assert.match(a.run('ip', 'route'), /^10\.244\.0\.0\/16 dev flannel-wg/m)
  assert.match(a.run('ip', '-6', 'route'), /^fd10:244::\/56 dev flannel-wg/m)
  assert.match(a.subnetEnvironment(), /^FLANNEL_MTU=1420$/m)
  const annotations = await lab.annotations('a')
  assert.equal(
    annotations['flannel.alpha.coreos.com/backend-data'],
    JSON.stringify({ PublicKey: shown(a, 'public-key'), Port: 51_820 }),
  )
  const lines = shown(b, 'allowed-ips').split('\n')
  assert.ok(lines.includes(`${shown(a, 'public-key')}\t10.244.1.0/24 fd10:244:0:1::/64`))
  assert.ok(shown(b, 'persistent-keepalive').includes(`${shown(a, 'public-key')}\t25`))
  assert.ok(shown(b, 'endpoints').includes(`${shown(c, 'public-key')}\t192.168.113.2:51820`))
  assert.equal(statSync(keyFile(a)).mode & 0o777, 0o400)
}

async function encrypt({ pods }: WireguardLab): Promise<void> {
  const [address = '', address6 = ''] = pods.b!.addresses
  const capture = await Capture.start('switch', 'ip')
  assert.ok(pings(pods.a!, address, '-p', '746b7265'))
  const frames = await capture.frames(2)
  capture.stop()
  assert.deepEqual(plainPacket(frames[0]!), { source: '192.168.33.101', destination: '192.168.33.102' })
  for (const frame of frames) {
    assert.equal(frame[14 + 9], 17, 'UDP')
    assert.ok(!frame.includes('tkretkre'))
  }
  for (const each of [address, address6]) assert.equal(await receivedBytes(pods.b!, pods.a!, each), 1_048_576)
  assert.equal(await receivedBytes(pods.c!, pods.a!, pods.c!.addresses[0]!), 1_048_576)
}

async function restart({ lab, a, b, c, config, pods }: WireguardLab): Promise<void> {
  const key = shown(a, 'public-key')
  const connection = await OpenConnection.open(pods.a!, pods.c!, pods.c!.addresses[0]!)
  await a.kill()
  await startFlannel(a, config)
  await closeWithoutLoss(connection)
  assert.equal(shown(a, 'public-key'), key)
  assert.ok(pings(pods.a!, pods.b!.addresses[0]!))
  await b.kill()
  await lab.removeNode('b')
  await waitFor('one peer', () => shown(a, 'peers') === shown(c, 'public-key'))
}

const keyFile = (node: FlannelNode): string => join(node.folder, 'wgkey')

async function startFlannel(node: FlannelNode, config: string): Promise<void> {
  process.env.WIREGUARD_KEY_FILE = keyFile(node)
  await node.start(config, '--ip-masq')
}

/** The output of a program that sees the socket of the node's WireGuard. */
const inMounts = (node: FlannelNode, ...command: readonly string[]): string =>
  node.run('nsenter', `--mount=/proc/${node.mountsOf}/ns/mnt`, ...command).trim()

const shown = (node: FlannelNode, what: string): string => inMounts(node, 'wg', 'show', device, what)

/** Starts WireGuard for a node; its socket is in mounts of its own, as that of each machine. */
async function startProgram(node: FlannelNode): Promise<void> {
  const folder = '/run/wireguard'
  const script = `mkdir -p ${folder}; mount -t tmpfs none ${folder}; exec wireguard-go -f ${device}`
  const child = spawn('nsenter', [`--net=${node.namespace}`, 'unshare', '-m', 'sh', '-c', script], {
    stdio: 'ignore',
  })
  programs.push(child)
  node.mountsOf = child.pid
  await waitFor('WireGuard', () => inMounts(node, 'ls', '/run/wireguard').includes(`${device}.sock`))
}
