/** Static programs in the ELF format, for machines and images that have no other program for a purpose. */

const headerBytes = 64
const programHeaderBytes = 56

/** The address of the first byte of the content in memory. */
export const contentAddress = 0x40_0000 + headerBytes + programHeaderBytes

const readable = 4
const writable = 2
const executable = 1

export interface StaticProgram {
  /** The machine in the ELF header: 62 is x86-64, 183 is 64-bit ARM. */
  readonly machine: number
  /** Begins with the first instruction. */
  readonly content: Buffer
  /** True if the program changes its data. */
  readonly isWritable: boolean
}

/** The bytes of an executable file. */
export function staticProgram({ machine, content, isWritable }: StaticProgram): Buffer {
  const header = Buffer.alloc(headerBytes + programHeaderBytes)
  const size = BigInt(header.length + content.length)
  const start = BigInt(contentAddress)
  const address = start - BigInt(header.length)
  header.set([0x7f, 0x45, 0x4c, 0x46, 2, 1, 1])
  header.writeUInt16LE(2, 16) // An executable file.
  header.writeUInt16LE(machine, 18)
  header.writeUInt32LE(1, 20)
  header.writeBigUInt64LE(start, 24) // The first instruction.
  header.writeBigUInt64LE(BigInt(headerBytes), 32)
  header.writeUInt16LE(headerBytes, 52)
  header.writeUInt16LE(programHeaderBytes, 54)
  header.writeUInt16LE(1, 56) // One program header, for all of the file.
  header.writeUInt32LE(1, headerBytes)
  header.writeUInt32LE(readable | executable | (isWritable ? writable : 0), headerBytes + 4)
  header.writeBigUInt64LE(address, headerBytes + 16)
  header.writeBigUInt64LE(address, headerBytes + 24)
  header.writeBigUInt64LE(size, headerBytes + 32)
  header.writeBigUInt64LE(size, headerBytes + 40)
  header.writeBigUInt64LE(0x1000n, headerBytes + 48)
  return Buffer.concat([header, content])
}
