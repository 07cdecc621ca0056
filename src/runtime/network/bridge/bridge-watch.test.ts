import assert from 'node:assert/strict'
import { test } from 'node:test'
import { encodeIpv4Arp, operations } from '../../../network/arp/wire/arp-packet.ts'
import { encodeFrame, etherTypes } from '../../../network/arp/wire/ethernet-frame.ts'
import { broadcastAddress, noHardwareAddress } from '../../../network/arp/wire/hardware-address.ts'
import { encodeAddressSearch } from '../../../network/arp/wire/neighbour-message.ts'
import { BridgeWatch } from './bridge-watch.ts'

const [bridge, pod, stranger, other] = ['01', '05', 'd2', 'e3'].map((end) => `0a:58:0a:58:00:${end}`) as [
  string,
  string,
  string,
  string,
]
const announcement = (hardware: string, address: string): Buffer =>
  encodeFrame({
    destination: broadcastAddress,
    source: hardware,
    etherType: etherTypes.arp,
    payload: encodeIpv4Arp({
      operation: operations.request,
      senderHardware: hardware,
      senderAddress: address,
      targetHardware: noHardwareAddress,
      targetAddress: address,
    }),
  })

/** A watch of one pod, and what it does about frames. */
function watched() {
  const frames: { bytes: Buffer; link: number; isOutgoing: boolean; timeUs: number }[] = []
  const conflicts: string[] = []
  const lines: string[] = []
  const announced: number[] = []
  let isClosed = false
  let nowMs = 0
  const socket = { receive: () => frames.shift(), close: () => void (isClosed = true) }
  const watch = new BridgeWatch({
    bridge: 't8s0',
    open: () => ({ socket, hardware: bridge, gateways: ['10.88.0.1'] }),
    announce: () => void announced.push(nowMs),
    onConflict: ({ name }, message) => conflicts.push(`${name}: ${message}`),
    now: () => nowMs,
    log: (line) => lines.push(line),
  })
  watch.add(web)
  /** Reads frames that arrive at a time. */
  const see = (atMs: number, ...bytes: readonly Buffer[]): void => {
    nowMs = atMs
    for (const one of bytes) frames.push({ bytes: one, link: 1, isOutgoing: false, timeUs: 1000 * atMs })
    watch.read()
  }
  return { watch, see, conflicts, lines, frames, announced, isClosed: () => isClosed }
}

const web = {
  id: 'a',
  name: 'web',
  namespace: 'default',
  uid: 'u',
  addresses: ['10.88.0.5', 'fd88::5'],
  hardware: pod,
  namespaceFile: '/run/netns/a',
  interfaceName: 'eth0',
}

test('the address of a pod is defended once in ten seconds, which the log has once', () => {
  const { see, conflicts, announced, lines } = watched()
  see(0, announcement(pod, '10.88.0.5'), announcement(stranger, '10.88.0.5'), announcement(stranger, '10.88.0.5'))
  see(9_999, announcement(stranger, '10.88.0.5'))
  see(10_000, announcement(other, '10.88.0.5'), announcement(stranger, '10.88.0.5'))
  see(20_000, announcement(stranger, '10.88.0.5'))
  assert.deepEqual(announced, [0, 10_000, 20_000])
  const message = (host: string): string =>
    `The host ${host} on t8s0 uses the address 10.88.0.5 of this pod, which is at ${pod}: packets reach the one that ` +
    'spoke last, so the node announces the address of the pod, at most once in 10 s. ' +
    'Remove that host from the network, or give it another address.'
  assert.deepEqual(
    conflicts,
    [stranger, other, stranger].map((host) => `web: ${message(host)}`),
  )
  assert.deepEqual(
    lines,
    [stranger, other].map((host) => `pod default/web: ${message(host)}`),
  )
})

test('a pod that is connected again with its ID is defended immediately', () => {
  const { watch, see, announced } = watched()
  see(0, announcement(stranger, '10.88.0.5'))
  watch.remove('a')
  watch.add(web)
  see(1000, announcement(stranger, '10.88.0.5'))
  assert.deepEqual(announced, [0, 1000])
})

test('a probe for the address of a pod is reported once; the pod answers it', () => {
  const { see, conflicts, announced } = watched()
  see(0, encodeAddressSearch(stranger, 'fd88::5'), encodeAddressSearch(stranger, 'fd88::5'))
  assert.deepEqual(announced, [])
  assert.deepEqual(conflicts, [
    `web: The host ${stranger} on t8s0 probes for the address fd88::5 of this pod, which is at ${pod}: ` +
      'the pod answers, so that the host takes another one. Give that host addresses of another range.',
  ])
})

test('a pod whose address cannot be announced has the event, too', () => {
  const conflicts: string[] = []
  const lines: string[] = []
  const frame = { bytes: announcement(stranger, '10.88.0.5'), link: 1, isOutgoing: false, timeUs: 0 }
  const frames = [frame]
  const watch = new BridgeWatch({
    bridge: 't8s0',
    open: () => ({ socket: { receive: () => frames.shift(), close: () => {} }, hardware: bridge, gateways: [] }),
    announce() {
      throw new Error('open /run/netns/a: ENOENT')
    },
    onConflict: ({ name }) => conflicts.push(name),
    now: () => 0,
    log: (line) => lines.push(line),
  })
  watch.add(web)
  watch.read()
  watch.close()
  assert.deepEqual(conflicts, ['web'])
  assert.equal(lines[1], 'the address 10.88.0.5 of default/web was not announced: open /run/netns/a: ENOENT')
})

test('a pod, and the bridge that probes, are no conflicts', () => {
  const { see, conflicts, lines } = watched()
  see(0, announcement(pod, '10.88.0.5'), announcement(bridge, '10.88.0.5'))
  assert.deepEqual([conflicts, lines], [[], []])
})

test('an address of another host that moves is logged', () => {
  const { see, conflicts, lines } = watched()
  see(0, announcement(stranger, '10.88.0.9'))
  see(5000, announcement(other, '10.88.0.9'))
  assert.deepEqual(conflicts, [])
  assert.deepEqual(lines, [
    `t8s0: 10.88.0.9 was at ${stranger} and is now at ${other}: another host or interface has taken the address, ` +
      'as after the replacement of a pod or a failover.',
  ])
})

test('another host with the address of the bridge is logged', () => {
  const { see, lines } = watched()
  see(60_000, announcement(stranger, '10.88.0.1'))
  assert.match(lines.join(), new RegExp(`^t8s0: 10.88.0.1 was at ${bridge} and is now at ${stranger}`))
})

test('the watch ends with the last pod', () => {
  const { watch, isClosed, frames, conflicts, see } = watched()
  watch.remove('a')
  assert.ok(isClosed())
  see(0, announcement(stranger, '10.88.0.5'))
  assert.deepEqual([frames.length, conflicts.length], [1, 0])
})

test('a bridge that cannot be watched is logged once', () => {
  const lines: string[] = []
  const open = (): never => {
    throw new Error('socket: operation not permitted')
  }
  const ignore = (): void => {}
  const options = { bridge: 't8s0', open, announce: ignore, onConflict: ignore, now: () => 0 }
  const watch = new BridgeWatch({ ...options, log: (line) => lines.push(line) })
  for (const id of ['a', 'b']) watch.add({ ...web, id })
  watch.close()
  assert.deepEqual(lines, ['the addresses on t8s0 are not watched: socket: operation not permitted'])
})
