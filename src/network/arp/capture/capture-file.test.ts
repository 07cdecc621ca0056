import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { CapturedFrame } from '../report/captured-arp.ts'
import { arpFramesOf } from './capture-file.ts'

const ethernet = '76cb15069287' + '3a1154e07c01'
const arp = '00010800060400023a1154e07c01c0a8016476cb15069287c0a80165'
const frame = Buffer.from(`${ethernet}0806${arp}`, 'hex')
const ipv4 = Buffer.from(`${ethernet}0800${'00'.repeat(20)}`, 'hex')

/** The chunks of a file, of which each has three bytes. */
async function* chunksOf(...parts: readonly (Buffer | string)[]): AsyncGenerator<Buffer> {
  const bytes = Buffer.concat(parts.map((part) => (typeof part === 'string' ? Buffer.from(part, 'hex') : part)))
  for (let at = 0; at < bytes.length; at += 3) yield bytes.subarray(at, at + 3)
}
async function read(...parts: readonly (Buffer | string)[]): Promise<CapturedFrame[]> {
  const frames: CapturedFrame[] = []
  for await (const one of arpFramesOf(chunksOf(...parts))) frames.push(one)
  return frames
}

function words(isLittle: boolean, ...values: readonly number[]): Buffer {
  const bytes = Buffer.alloc(4 * values.length)
  for (const [index, value] of values.entries())
    if (isLittle) bytes.writeUInt32LE(value, 4 * index)
    else bytes.writeUInt32BE(value, 4 * index)
  return bytes
}
const record = (isLittle: boolean, seconds: number, units: number, bytes: Buffer): Buffer =>
  Buffer.concat([words(isLittle, seconds, units, bytes.length, bytes.length), bytes])

test('pcap files have their frames of ARP, in both byte orders, with micro- or nanoseconds', async () => {
  const header = (isLittle: boolean, linkType: number): Buffer => words(isLittle, 0x00020004, 0, 0, 65535, linkType)
  const little = await read('d4c3b2a1', header(true, 1), record(true, 7, 5, ipv4), record(true, 8, 123456, frame))
  assert.deepEqual(little, [{ timeUs: 8_123_456, interface: '', frame }])
  const big = await read('a1b23c4d', header(false, 1), record(false, 8, 123_456_789, frame))
  assert.deepEqual(big, [{ timeUs: 8_123_456, interface: '', frame }])
})

test('captures of all interfaces have their own headers', async () => {
  const header = (linkType: number): Buffer => words(false, 0x00020004, 0, 0, 65535, linkType)
  const cooked = Buffer.from(`0001000100063a1154e07c0100000806${arp}`, 'hex')
  const [first] = await read('a1b2c3d4', header(113), record(false, 1, 0, cooked))
  const parts = { source: '3a:11:54:e0:7c:01', etherType: 0x0806, payload: Buffer.from(arp, 'hex') }
  assert.deepEqual(first?.frame, { ...parts, destination: 'ff:ff:ff:ff:ff:ff' })
  const cooked2 = Buffer.from(`0806000000000007000104063a1154e07c010000${arp}`, 'hex')
  const [second] = await read('a1b2c3d4', header(276), record(false, 1, 0, cooked2))
  assert.deepEqual([second?.interface, second?.frame], ['if7', { ...parts, destination: '00:00:00:00:00:00' }])
})

test('pcapng files name interfaces and the resolution of times', async () => {
  const block = (type: number, body: Buffer): Buffer =>
    Buffer.concat([words(true, type, body.length + 12), body, words(true, body.length + 12)])
  const section = block(0x0a0d0d0a, Buffer.from('4d3c2b1a' + '01000000' + 'ffffffffffffffff', 'hex'))
  const name = '02000400' + Buffer.from('cni0').toString('hex')
  const nanoseconds = '09000100' + '09000000'
  const link = block(1, Buffer.from(`01000000${'00000400'}${name}${nanoseconds}00000000`, 'hex'))
  const time = 1_790_000_000_123_456_789n
  const head = words(true, 0, Number(time >> 32n), Number(time & 0xffffffffn), frame.length, frame.length)
  const packet = block(6, Buffer.concat([head, frame, Buffer.alloc(2)]))
  const [found] = await read(section, link, packet)
  assert.deepEqual([found?.interface, found?.frame], ['cni0', frame])
  assert.equal(Math.round(found!.timeUs / 1000), 1_790_000_000_123)
})

test('other files, and those that are cut off, are errors', async () => {
  await assert.rejects(read('00112233'), /it is no capture/)
  await assert.rejects(read(''), /it is no capture/)
  const start = ['d4c3b2a1', words(true, 0x00020004, 0, 0, 65535, 1)] as const
  await assert.rejects(read(...start, record(true, 1, 0, frame).subarray(0, 30)), /it is cut off/)
  await assert.rejects(
    read(...start, words(true, 1, 0, 0xfffffff, 0)),
    /it is damaged: a record has the size 268435455/,
  )
})
