/**
 * Programs of classic BPF that drop packets of clients outside of ranges (linux/filter.h). A filter of a listening
 * socket sees the first packet of a connection, so that other clients get no answer at all. It needs no privilege.
 */
import { isIPv4 } from 'node:net'
import { addressToBytes } from '../../netlink/address-bytes.ts'

/** SKF_NET_OFF: offsets from here are of the IP header. */
const networkHeader = -0x100000
const sourceAt = { ipv4: 12, ipv6: 8 } as const
/** Loads a word; and; jump if equal; jump; return. */
const codes = { load: 0x20, and: 0x54, jumpIfEqual: 0x15, jump: 0x05, return: 0x06 } as const
const everything = 0xffffffff
/** BPF_MAXINSNS. */
const mostInstructions = 4096

type Instruction = readonly [code: number, ifTrue: number, ifFalse: number, value: number]

/**
 * The program for clients that are in a range of each list. Ranges are of the family of the socket.
 * @throws if the kernel does not accept as many ranges.
 */
export function clientFilter(lists: readonly (readonly string[])[]): Buffer {
  const parts = lists.map(listInstructions)
  const program: Instruction[] = [...parts.flat(), [codes.return, 0, 0, everything]]
  if (program.length > mostInstructions)
    throw new Error(`${lists.flat().length} ranges of clients are too many for a filter of the kernel`)
  return Buffer.concat(program.map(encode))
}

/** Continues behind itself if a range matches, else returns. */
function listInstructions(ranges: readonly string[]): Instruction[] {
  const parts = ranges.map(rangeInstructions)
  const drop: Instruction = [codes.return, 0, 0, 0]
  const found: Instruction[] = [drop]
  // From the end, as each jump to the end of the list needs the number of instructions between.
  for (const part of parts.toReversed()) found.unshift(...part, [codes.jump, 0, 0, found.length])
  return found
}

/** Continues behind itself if the range has the client, else one instruction further. */
function rangeInstructions(range: string): Instruction[] {
  const [address = '', bits = ''] = range.split('/')
  const at = networkHeader + (isIPv4(address) ? sourceAt.ipv4 : sourceAt.ipv6)
  const bytes = addressToBytes(address)
  const words: Instruction[][] = []
  for (let word = 0; word * 32 < Number(bits); word++) {
    const used = Math.min(32, Number(bits) - word * 32)
    const mask = used === 32 ? everything : (everything << (32 - used)) >>> 0
    const value = (bytes.readUInt32BE(word * 4) & mask) >>> 0
    const load: Instruction = [codes.load, 0, 0, (at + word * 4) >>> 0]
    const masked: readonly Instruction[] = used === 32 ? [] : [[codes.and, 0, 0, mask]]
    words.push([load, ...masked, [codes.jumpIfEqual, 0, 0, value]])
  }
  const all = words.flat()
  return all.map((each, i) => (each[0] === codes.jumpIfEqual ? [each[0], 0, all.length - i, each[3]] : each))
}

function encode([code, ifTrue, ifFalse, value]: Instruction): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeUInt16LE(code, 0)
  bytes.writeUInt8(ifTrue, 2)
  bytes.writeUInt8(ifFalse, 3)
  bytes.writeUInt32LE(value, 4)
  return bytes
}
