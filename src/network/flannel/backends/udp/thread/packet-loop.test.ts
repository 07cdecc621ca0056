import assert from 'node:assert/strict'
import { constants } from 'node:os'
import { test } from 'node:test'
import { PacketLoop } from './packet-loop.ts'
import { PeerTable } from './peer-table.ts'

const [tun, socket, wake] = [10, 11, 12]
/** Each memory begins at a multiple of this address. */
const distance = 2 ** 32

/** A packet of 10.244.1.0 to 10.244.2.0 with a number as its time to live. */
function packet(ttl: number): Buffer {
  const bytes = Buffer.alloc(28)
  bytes[0] = 0x45
  bytes[8] = ttl
  bytes.set([10, 244, 1, 0, 10, 244, 2, 0], 12)
  return bytes
}

/** A kernel with a queue for the device and one for the socket. The loop stops when both are empty. */
function kernel(device: Buffer[], received: Buffer[], after: (call: string) => void = () => {}) {
  const memories: Buffer[] = []
  const done: string[] = []
  const at = (address: number): Buffer => memories[Math.floor(address / distance) - 1]!.subarray(address % distance)
  const record = (call: string): void => {
    done.push(call)
    after(call)
  }
  const calls = {
    errno: () => constants.errno.EAGAIN,
    addressOf: (memory: Uint8Array) =>
      memories.push(Buffer.from(memory.buffer, memory.byteOffset, memory.byteLength)) * distance,
    poll(entries: number) {
      const isReady = [device.length > 0, received.length > 0, false]
      for (const [i, ready] of isReady.entries()) at(entries).writeUInt16LE(Number(ready), i * 8 + 6)
      if (!isReady.includes(true)) loop.stop()
      record('poll')
      return isReady.filter(Boolean).length
    },
    read(_fd: number, memory: number) {
      const next = device.shift()
      next?.copy(at(memory))
      record('read')
      return next?.length ?? -1
    },
    write(_fd: number, memory: number) {
      record(`write ${at(memory)[8]}`)
      return 0
    },
    sendMany(_fd: number, _messages: number, count: number) {
      record(`send ${count}`)
      return count
    },
    receiveMany(_fd: number, messages: number, count: number) {
      const found = received.splice(0, count)
      for (const [i, each] of found.entries()) {
        const header = at(messages + i * 64)
        const vector = at(Number(header.readBigUInt64LE(16)))
        each.copy(at(Number(vector.readBigUInt64LE(0))))
        header.writeUInt32LE(each.length, 56)
      }
      record(`receive ${found.length}`)
      return found.length || -1
    },
  }
  const peers = new PeerTable()
  peers.set([{ subnet: '10.244.2.0/24', address: '192.168.33.2', port: 8285 }])
  const loop = new PacketLoop({ ...{ tun, socket, wake, mtu: 1472, calls, peers }, report: assert.fail, onWake() {} })
  loop.run()
  return done
}

test('a single packet of the device is read and sent, without a read that finds nothing', () => {
  assert.deepEqual(kernel([packet(64)], []), ['poll', 'read', 'send 1', 'poll'])
})

test('a single received packet is delivered, and its answer is sent in the same turn', () => {
  const device: Buffer[] = []
  const answer = (call: string): unknown => call === 'write 63' && device.push(packet(64))
  const done = kernel(device, [packet(64)], answer)
  assert.deepEqual(done, ['poll', 'receive 1', 'write 63', 'read', 'send 1', 'poll'])
})

test('packets that come together are sent together, and those of others are received meanwhile', () => {
  const received: Buffer[] = []
  const packets = [1, 2, 3, 4].map(() => packet(64))
  const done = kernel(packets, received, (call) => call === 'send 3' && received.push(packet(64)))
  const reads = ['read', 'read', 'read', 'read']
  const [first, second] = [
    ['poll', 'read', 'send 1'],
    ['poll', ...reads, 'send 3', 'receive 1', 'write 63', 'read', 'poll'],
  ]
  assert.deepEqual(done, [...first, ...second])
})
