/** Programs of classic BPF that choose the packets of a socket (linux/filter.h). */

const operations = { loadHalf: 0x28, loadByte: 0x30, jumpIfEqual: 0x15, return: 0x06 } as const
/** Where the kernel has the EtherType of a packet, without the tag of a virtual LAN. */
const protocolAt = 0xfffff000
const wholePacket = 0xffff

type Instruction = readonly [operation: number, ifTrue: number, ifFalse: number, value: number]

/** ARP and RARP. */
export const arpFilter = (): Buffer =>
  encode([
    [operations.loadHalf, 0, 0, protocolAt],
    [operations.jumpIfEqual, 1, 0, 0x0806],
    [operations.jumpIfEqual, 0, 1, 0x8035],
    [operations.return, 0, 0, wholePacket],
    [operations.return, 0, 0, 0],
  ])

/** ARP, and solicitations and advertisements of neighbours of IPv6. */
export const neighbourFilter = (): Buffer =>
  encode([
    [operations.loadHalf, 0, 0, protocolAt],
    [operations.jumpIfEqual, 6, 0, 0x0806],
    [operations.jumpIfEqual, 0, 6, 0x86dd],
    [operations.loadByte, 0, 0, 20],
    [operations.jumpIfEqual, 0, 4, 58],
    [operations.loadByte, 0, 0, 54],
    [operations.jumpIfEqual, 1, 0, 135],
    [operations.jumpIfEqual, 0, 1, 136],
    [operations.return, 0, 0, wholePacket],
    [operations.return, 0, 0, 0],
  ])

function encode(instructions: readonly Instruction[]): Buffer {
  const bytes = Buffer.alloc(8 * instructions.length)
  for (const [index, [operation, ifTrue, ifFalse, value]] of instructions.entries()) {
    bytes.writeUInt16LE(operation, 8 * index)
    bytes.writeUInt8(ifTrue, 8 * index + 2)
    bytes.writeUInt8(ifFalse, 8 * index + 3)
    bytes.writeUInt32LE(value, 8 * index + 4)
  }
  return bytes
}
