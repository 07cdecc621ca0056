/** The checks that run inside the virtual machine: backends whose modules this machine may lack, on two nodes. */
import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { after, before, test } from 'node:test'
import { createNetwork } from '../../network/network-namespaces.ts'

const numbers = ['1', '2'] as const
const namespaceOf = (number: string): string => `/tmp/node-${number}`

const inNode = (number: string, program: string, ...args: readonly string[]): string =>
  execFileSync('nsenter', [`--net=${namespaceOf(number)}`, program, ...args], { encoding: 'utf8', timeout: 20_000 })

const start = (number: string, program: string, ...args: readonly string[]): ChildProcess =>
  spawn('nsenter', [`--net=${namespaceOf(number)}`, program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })

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

before(() => {
  for (const number of numbers) createNetwork(namespaceOf(number))
  const [first, second] = numbers.map(namespaceOf)
  execFileSync('ip', ['link', 'add', 'eth0', 'netns', first!, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', second!])
  for (const number of numbers)
    for (const command of [
      'link set lo up',
      `address add 192.168.33.10${number}/24 dev eth0`,
      'link set eth0 up',
      'link add cni0 type dummy',
      `address add 10.244.${number}.1/24 dev cni0`,
      'link set cni0 up',
    ])
      inNode(number, 'ip', ...command.split(' '))
})

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
  /** A line of a node that is connected, after the first ones. */
  readonly connected?: string
}

/** A node's files of programs are its own, as on machines of their own. */
const ownFiles = ['unshare', '-m', 'sh', '-c', 'mount -t tmpfs none /run; exec "$@"', 'sh'] as const

/** Connects both nodes by a backend; the addresses of `cni0` stand for pods. */
async function connect(type: string, backends: readonly object[], wire: Wire): Promise<void> {
  const { filter, text, mtu, sentOnly = false, connected = 'restored' } = wire
  const [unshare, ...inOwnFiles] = ownFiles
  const nodes = numbers.map((number, i) => {
    const settings = JSON.stringify(backends[i] ?? backends[0])
    const args = ['node', '/flannel-peer.js', type, number, number === '1' ? '2' : '1', settings]
    return start(number, unshare, ...inOwnFiles, ...args)
  })
  after(() => nodes.forEach((node) => void node.kill('SIGKILL')))
  const outputs = await Promise.all(nodes.map((node) => printed(node, 'restored', connected)))
  const nothingNew = `applied, MTU ${mtu}\n(?:charon: .*\n|ipsec: connected .*\n)*restored`
  for (const output of outputs) assert.match(output, new RegExp(nothingNew))
  const capture = startCapture('10', filter, sentOnly)
  await printed(capture, 'listening on')
  const packets = printed(capture, text)
  inNode('1', 'busybox', 'ping', '-I', '10.244.1.1', '-c', '3', '-W', '5', '10.244.2.1')
  await packets
  capture.kill('SIGKILL')
  const server = start('2', 'sh', '-c', 'head -c 1048576 /dev/zero | busybox nc -l -p 8080')
  const listening = (): boolean => /:8080 /.test(inNode('2', 'busybox', 'netstat', '-ltn'))
  for (let i = 0; i < 100 && !listening(); i++) await new Promise((resolve) => setTimeout(resolve, 50))
  // Its input stays open: the server ends when a client has nothing more to say.
  const args = [`--net=${namespaceOf('1')}`, 'busybox', 'nc', '10.244.2.1', '8080']
  const client = spawn('nsenter', args, { stdio: ['pipe', 'pipe', 'ignore'], timeout: 30_000 })
  let size = 0
  for await (const piece of client.stdout) size += (piece as Buffer).length
  assert.equal(size, 1_048_576)
  server.kill('SIGKILL')
  for (const node of nodes) {
    node.kill('SIGKILL')
    if (node.exitCode === null && node.signalCode === null) await once(node, 'exit')
  }
}

test('ipip connects nodes by packets of the protocol 4, and with DirectRouting by packets as they are', async () => {
  // The first node sends packets as they are, the second one encapsulates its answers.
  const text = '192.168.33.102 > 192.168.33.101: IP 10.244.2.1 > 10.244.1.1: ICMP echo reply'
  await connect('ipip', [{ DirectRouting: true }, {}], { filter: 'icmp or ip proto 4', text, mtu: 1480 })
  assert.match(inNode('1', 'ip', 'route'), /^10\.244\.2\.0\/24 via 192\.168\.33\.102 dev eth0.* onlink/m)
  assert.match(inNode('2', 'ip', 'route'), /^10\.244\.1\.0\/24 via 192\.168\.33\.101 dev flannel\.ipip.* onlink/m)
  assert.match(inNode('2', 'ip', '-d', 'link', 'show', 'flannel.ipip'), /ipip remote any local 192\.168\.33\.102/)
  inNode('1', 'ip', 'route', 'delete', '10.244.2.0/24')
  for (const number of numbers) inNode(number, 'ip', 'link', 'delete', 'flannel.ipip')
})

test('wireguard connects nodes by the kernel', async () => {
  const PSK = Buffer.alloc(32, 7).toString('base64')
  await connect('wireguard', [{ PSK }], { filter: 'udp port 51820', text: '192.168.33.101.51820 > 192.168', mtu: 1420 })
  assert.match(inNode('1', 'ip', 'route'), /^10\.244\.0\.0\/16 dev flannel-wg/m)
  assert.match(inNode('1', 'ip', '-d', 'link', 'show', 'flannel-wg'), /wireguard/)
  for (const number of numbers) inNode(number, 'ip', 'link', 'delete', 'flannel-wg')
})

test('ipsec connects nodes by packets of ESP, also in packets of UDP, and while flannel does not run', async () => {
  for (const [number, peer] of ['12', '21'])
    inNode(number!, 'ip', ...`route add 10.244.0.0/16 via 192.168.33.10${peer} src 10.244.${number}.1`.split(' '))
  const PSK = 'f'.repeat(96)
  const common = { sentOnly: true, connected: 'ipsec: connected to' }
  await connect('ipsec', [{ PSK }], { ...common, filter: 'icmp or esp', text: 'ESP(spi=0x', mtu: 1423 })
  const capture = startCapture('3', 'icmp or esp', true)
  await printed(capture, 'listening on')
  const packets = printed(capture, '3 packets captured')
  assert.match(inNode('1', 'busybox', 'ping', '-I', '10.244.1.1', '-c', '3', '10.244.2.1'), / 0% packet loss/)
  const output = await packets
  assert.match(output, /192\.168\.33\.101 > 192\.168\.33\.102: ESP\(spi=0x\w+,seq=0x\w+\)/)
  assert.doesNotMatch(output, /ICMP/)
  // Another charon uses the ports now.
  execFileSync('busybox', ['killall', '-KILL', 'charon'])
  for (const number of numbers) inNode(number, 'ip', 'xfrm', 'state', 'flush')
  const inUdp = { ...common, filter: 'icmp or udp port 4500', text: 'UDP-encap: ESP(spi=0x', mtu: 1415 }
  await connect('ipsec', [{ PSK, UDPEncap: true }], inUdp)
})
