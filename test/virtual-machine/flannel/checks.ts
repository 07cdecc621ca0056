/**
 * The checks that run inside the virtual machine: backends whose modules this machine may lack, on three nodes. The
 * nodes 1 and 2 are on one link, the node 3 is behind a router.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { after, before, test } from 'node:test'
import { createNetwork } from '../../network/network-namespaces.ts'
import { OpenStream } from './open-stream.ts'

const numbers = ['1', '2', '3'] as const
const places = [
  { port: 'port-1', address: '192.168.33.101', router: '192.168.33.1' },
  { port: 'port-2', address: '192.168.33.102', router: '192.168.33.1' },
  { port: 'port-3', address: '192.168.113.2', router: '192.168.113.1' },
] as const
const peersOf = (number: string): string[] => numbers.filter((each) => each !== number)
const namespaceOf = (number: string): string => `/tmp/node-${number}`

const inNode = (number: string, program: string, ...args: readonly string[]): string =>
  execFileSync('nsenter', [`--net=${namespaceOf(number)}`, program, ...args], { encoding: 'utf8', timeout: 20_000 })

const start = (number: string, program: string, ...args: readonly string[]): ChildProcess =>
  spawn('nsenter', [`--net=${namespaceOf(number)}`, program, ...args], { stdio: ['pipe', 'pipe', 'pipe'] })

/** Resolves with all output when it has the text. Rejects if the program ends before. */
async function printed(child: ChildProcess, ...texts: readonly string[]): Promise<string> {
  let output = ''
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const onData = (piece: Buffer): void => {
    output += piece.toString()
    if (texts.every((text) => output.includes(text))) resolve(output)
  }
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', onData)
  child.once('close', () => reject(new Error(`it ended:\n${output}`)))
  const timer = setTimeout(() => reject(new Error(`it has not printed ${texts.join(' and ')}:\n${output}`)), 60_000)
  return promise.finally(() => clearTimeout(timer))
}

/** A process whose mounts are those of the node: files of programs are its own, as on machines of their own. */
const mounts: ChildProcess[] = []
/** flannel of each node. */
const nodes: ChildProcess[] = []

before(() => {
  const onRouter = (commands: string): unknown => execFileSync('sh', ['-ec', commands])
  onRouter(`ip link add switch type bridge; ip address add 192.168.33.1/24 dev switch; ip link set switch up
    echo 1 >/proc/sys/net/ipv4/ip_forward; echo 0 >/proc/sys/net/ipv4/conf/all/send_redirects`)
  for (const [i, number] of numbers.entries()) {
    const { port, address, router } = places[i]!
    createNetwork(namespaceOf(number))
    onRouter(`ip link add ${port} type veth peer name eth0 netns ${namespaceOf(number)}; ip link set ${port} up`)
    onRouter(number === '3' ? `ip address add ${router}/24 dev ${port}` : `ip link set ${port} master switch`)
    for (const command of [
      'link set lo up',
      `address add ${address}/24 dev eth0`,
      'link set eth0 up',
      `route add default via ${router}`,
      'link add cni0 type dummy',
      `address add 10.244.${number}.1/24 dev cni0`,
      'link set cni0 up',
    ])
      inNode(number, 'ip', ...command.split(' '))
    const script = 'mount -t tmpfs none /run; exec busybox sleep 100000'
    mounts.push(spawn('unshare', ['-m', 'sh', '-c', script], { stdio: 'ignore' }))
  }
})
after(() => [...nodes, ...mounts].forEach((child) => void child.kill('SIGKILL')))

const startCapture = (count: string, filter: string, sentOnly: boolean): ChildProcess => {
  const direction = sentOnly ? ['-Q', 'out'] : []
  return start('1', 'tcpdump', '-i', 'eth0', '-nn', '-l', '-Z', 'root', ...direction, '-c', count, filter)
}

interface Wire {
  /** Packets on the link between the nodes, and a part of a line about one. */
  readonly filter: string
  readonly text: string
  readonly mtu: number
  /** Only packets that the first node sends: the kernel shows received packets of a tunnel again, decrypted. */
  readonly sentOnly?: boolean
  /** The beginning of a line about a node that is connected, after the first lines. */
  readonly connected?: string
  /** False: flannel is not started again, which takes seconds. */
  readonly restarts?: boolean
}

/** Starts flannel of a node, which waits for a backend. */
function startFlannel(number: string): ChildProcess {
  const own = `--mount=/proc/${mounts[Number(number) - 1]!.pid}/ns/mnt`
  return start(number, 'nsenter', own, 'node', '/flannel-peer.js', number, peersOf(number).join(','))
}

const write = (node: ChildProcess, line: string): unknown => node.stdin!.write(`${line}\n`)

async function end(node: ChildProcess): Promise<void> {
  node.kill('SIGKILL')
  if (node.exitCode === null && node.signalCode === null) await once(node, 'exit')
}

/** The first node receives a megabyte of the second one: packets have the right size. */
async function receiveMegabyte(): Promise<void> {
  const server = start('2', 'sh', '-c', 'head -c 1048576 /dev/zero | busybox nc -l -p 8080')
  const isListening = (): boolean => /:8080 /.test(inNode('2', 'busybox', 'netstat', '-ltn'))
  for (let i = 0; i < 100 && !isListening(); i++) await new Promise((resolve) => setTimeout(resolve, 50))
  // Its input stays open: the server ends when a client has nothing more to say.
  const args = [`--net=${namespaceOf('1')}`, 'busybox', 'nc', '10.244.2.1', '8080']
  const client = spawn('nsenter', args, { stdio: ['pipe', 'pipe', 'ignore'], timeout: 30_000 })
  let size = 0
  for await (const piece of client.stdout) size += (piece as Buffer).length
  assert.equal(size, 1_048_576)
  server.kill('SIGKILL')
}

/** Kills flannel of the first node and starts it again. A connection with the node behind the router loses nothing. */
async function restart(backend: object): Promise<void> {
  const stream = await OpenStream.open(namespaceOf('1'), namespaceOf('3'), '10.244.3.1')
  await end(nodes[0]!)
  await stream.flow()
  nodes[0] = startFlannel('1')
  const restored = printed(nodes[0], 'restored')
  write(nodes[0], JSON.stringify(backend))
  await restored
  await stream.flow()
  await stream.close()
}

/** Connects the nodes by a backend; the addresses of `cni0` stand for pods. */
async function connect(backends: readonly object[], wire: Wire): Promise<void> {
  const { filter, text, mtu, sentOnly = false, connected, restarts = true } = wire
  const backendOf = (i: number): object => backends[i] ?? backends[0]!
  const texts = (number: string): string[] =>
    connected === undefined ? [] : peersOf(number).map((peer) => `${connected} 10.244.${peer}.0/24`)
  const isConnected = numbers.map((number, i) =>
    printed((nodes[i] ??= startFlannel(number)), 'restored', ...texts(number)),
  )
  for (const [i, node] of nodes.entries()) write(node, JSON.stringify(backendOf(i)))
  const nothingNew = `applied, MTU ${mtu}\n(?:charon: .*\n|ipsec: connected .*\n)*restored`
  for (const output of await Promise.all(isConnected)) assert.match(output, new RegExp(nothingNew))
  const capture = startCapture('10', filter, sentOnly)
  await printed(capture, 'listening on')
  const packets = printed(capture, text)
  inNode('1', 'busybox', 'ping', '-I', '10.244.1.1', '-c', '3', '-i', '0.2', '-W', '5', '10.244.2.1')
  await packets
  capture.kill('SIGKILL')
  await receiveMegabyte()
  inNode('3', 'busybox', 'ping', '-I', '10.244.3.1', '-c', '3', '-i', '0.2', '-W', '5', '10.244.2.1')
  if (restarts) await restart(backendOf(0))
  const areStopped = nodes.map((node) => printed(node, 'stopped'))
  for (const node of nodes) write(node, 'stop')
  await Promise.all(areStopped)
}

test('ipip connects nodes by packets of the protocol 4, and with DirectRouting by packets as they are', async () => {
  // The first node sends packets as they are, the second one encapsulates its answers.
  const text = '192.168.33.102 > 192.168.33.101: IP 10.244.2.1 > 10.244.1.1: ICMP echo reply'
  await connect([{ Type: 'ipip', DirectRouting: true }, { Type: 'ipip' }, { Type: 'ipip' }], {
    filter: 'icmp or ip proto 4',
    text,
    mtu: 1480,
  })
  assert.match(inNode('1', 'ip', 'route'), /^10\.244\.2\.0\/24 via 192\.168\.33\.102 dev eth0.* onlink/m)
  assert.match(inNode('2', 'ip', 'route'), /^10\.244\.1\.0\/24 via 192\.168\.33\.101 dev flannel\.ipip.* onlink/m)
  assert.match(inNode('1', 'ip', 'route'), /^10\.244\.3\.0\/24 via 192\.168\.113\.2 dev flannel\.ipip.* onlink/m)
  assert.match(inNode('2', 'ip', '-d', 'link', 'show', 'flannel.ipip'), /ipip remote any local 192\.168\.33\.102/)
  inNode('1', 'ip', 'route', 'delete', '10.244.2.0/24')
  for (const number of numbers) inNode(number, 'ip', 'link', 'delete', 'flannel.ipip')
})

test('wireguard connects nodes by the kernel', async () => {
  const PSK = Buffer.alloc(32, 7).toString('base64')
  await connect([{ Type: 'wireguard', PSK }], {
    filter: 'udp port 51820',
    text: '192.168.33.101.51820 > 192.168',
    mtu: 1420,
  })
  assert.match(inNode('1', 'ip', 'route'), /^10\.244\.0\.0\/16 dev flannel-wg/m)
  assert.match(inNode('1', 'ip', '-d', 'link', 'show', 'flannel-wg'), /wireguard/)
  for (const number of numbers) inNode(number, 'ip', 'link', 'delete', 'flannel-wg')
})

test('ipsec connects nodes by packets of ESP, also in packets of UDP, and while flannel does not run', async () => {
  for (const [i, number] of numbers.entries())
    inNode(number, 'ip', ...`route add 10.244.0.0/16 via ${places[i]!.router} src 10.244.${number}.1`.split(' '))
  const PSK = 'f'.repeat(96)
  const common = { sentOnly: true, connected: 'ipsec: connected to' }
  await connect([{ Type: 'ipsec', PSK }], { ...common, filter: 'icmp or esp', text: 'ESP(spi=0x', mtu: 1423 })
  const capture = startCapture('3', 'icmp or esp', true)
  const packets = text(capture.stdout!)
  await printed(capture, 'listening on')
  assert.match(
    inNode('1', 'busybox', 'ping', '-I', '10.244.1.1', '-c', '3', '-i', '0.2', '10.244.2.1'),
    / 0% packet loss/,
  )
  const output = await packets
  assert.match(output, /192\.168\.33\.101 > 192\.168\.33\.102: ESP\(spi=0x\w+,seq=0x\w+\)/)
  assert.doesNotMatch(output, /ICMP/)
  // Another charon uses the ports now.
  execFileSync('busybox', ['killall', '-KILL', 'charon'])
  for (const number of numbers) inNode(number, 'ip', 'xfrm', 'state', 'flush')
  const inUdp = {
    ...common,
    filter: 'icmp or udp port 4500',
    text: 'UDP-encap: ESP(spi=0x',
    mtu: 1415,
    restarts: false,
  }
  await connect([{ Type: 'ipsec', PSK, UDPEncap: true }], inUdp)
})
