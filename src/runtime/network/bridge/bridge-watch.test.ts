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

/** A watch of one pod, and what it reports of frames. */
function watched() {
  const frames: { bytes: Buffer; link: number; isOutgoing: boolean; timeUs: number }[] = []
  const conflicts: string[] = []
  const lines: string[] = []
  let isClosed = false
  const socket = { receive: () => frames.shift(), close: () => void (isClosed = true) }
  const watch = new BridgeWatch({
    bridge: 't8s0',
    open: () => ({ socket, hardware: bridge }),
    onConflict: ({ name }, message) => conflicts.push(`${name}: ${message}`),
    log: (line) => lines.push(line),
  })
  watch.add({
    id: 'a',
    name: 'web',
    namespace: 'default',
    uid: 'u',
    addresses: ['10.88.0.5', 'fd88::5'],
    hardware: pod,
  })
  let timeUs = 0
  const see = (...bytes: readonly Buffer[]): void => {
    for (const one of bytes) frames.push({ bytes: one, link: 1, isOutgoing: false, timeUs: (timeUs += 5_000_000) })
    watch.read()
  }
  return { watch, see, conflicts, lines, frames, isClosed: () => isClosed }
}

test('another host with the address of a pod is a conflict, once', () => {
  const { see, conflicts } = watched()
  see(announcement(pod, '10.88.0.5'), announcement(stranger, '10.88.0.5'), announcement(stranger, '10.88.0.5'))
  assert.deepEqual(conflicts, [
    `web: The host ${stranger} on t8s0 uses the address 10.88.0.5 of this pod, which is at ${pod}: ` +
      'packets reach one of the two. Remove that host from the network, then delete the pod.',
  ])
  see(encodeAddressSearch(stranger, 'fd88::5'))
  assert.match(conflicts[1] ?? '', /uses the address fd88::5 of this pod/)
})

test('a pod, and the bridge that probes, are no conflicts', () => {
  const { see, conflicts, lines } = watched()
  see(announcement(pod, '10.88.0.5'), announcement(bridge, '10.88.0.5'))
  assert.deepEqual([conflicts, lines], [[], []])
})

test('an address of another host that moves is logged', () => {
  const { see, conflicts, lines } = watched()
  see(announcement(stranger, '10.88.0.9'), announcement(other, '10.88.0.9'))
  assert.deepEqual(conflicts, [])
  assert.deepEqual(lines, [
    `t8s0: 10.88.0.9 was at ${stranger} and is now at ${other}: another host or interface has taken the address, ` +
      'as after the replacement of a pod or a failover.',
  ])
})

test('the watch ends with the last pod', () => {
  const { watch, isClosed, frames, conflicts, see } = watched()
  watch.remove('a')
  assert.ok(isClosed())
  see(announcement(stranger, '10.88.0.5'))
  assert.deepEqual([frames.length, conflicts.length], [1, 0])
})

test('a bridge that cannot be watched is logged once', () => {
  const lines: string[] = []
  const open = (): never => {
    throw new Error('socket: operation not permitted')
  }
  const watch = new BridgeWatch({ bridge: 't8s0', open, onConflict: () => {}, log: (line) => lines.push(line) })
  const one = { name: 'web', namespace: 'default', uid: 'u', addresses: [], hardware: pod }
  for (const id of ['a', 'b']) watch.add({ ...one, id })
  watch.close()
  assert.deepEqual(lines, ['the addresses on t8s0 are not watched: socket: operation not permitted'])
})
