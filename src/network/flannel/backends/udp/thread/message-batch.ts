/** Memory for many packets, as recvmmsg(2) and sendmmsg(2) use it: one system call for all of them. 64-bit machines. */

/** Packets of a batch. */
export const batchSize = 64

/** `struct mmsghdr`, and its members. */
const header = { size: 64, name: 0, nameSize: 8, vectors: 16, vectorCount: 24, flags: 48, length: 56 } as const
/** `struct iovec`. */
const vector = { size: 16, base: 0, length: 8 } as const
/** `struct sockaddr_in`. */
const addressSize = 16
/** MSG_TRUNC. */
const cutOff = 0x20

export class MessageBatch {
  /** The memory of all packets; packet `i` begins at `offset(i)`. */
  readonly bytes: Buffer
  /** The longest packet, in bytes. */
  readonly slotSize: number
  /** The address of the messages. */
  readonly messages: number
  readonly #headers = Buffer.alloc(header.size * batchSize)
  readonly #vectors = Buffer.alloc(vector.size * batchSize)
  readonly #addresses = Buffer.alloc(addressSize * batchSize)
  readonly #base: number
  /** The destination of each message. */
  readonly #destinations: (Buffer | undefined)[] = Array.from({ length: batchSize })

  constructor(addressOf: (memory: Uint8Array) => number, slotSize: number) {
    this.slotSize = slotSize
    this.bytes = Buffer.alloc(slotSize * batchSize)
    this.#base = addressOf(this.bytes)
    this.messages = addressOf(this.#headers)
    const [vectors, addresses] = [addressOf(this.#vectors), addressOf(this.#addresses)]
    for (let i = 0; i < batchSize; i++) {
      const at = i * header.size
      this.#headers.writeBigUInt64LE(BigInt(addresses + i * addressSize), at + header.name)
      this.#headers.writeBigUInt64LE(BigInt(vectors + i * vector.size), at + header.vectors)
      this.#headers.writeBigUInt64LE(1n, at + header.vectorCount)
      this.#vectors.writeBigUInt64LE(BigInt(this.address(i)), i * vector.size + vector.base)
      this.#vectors.writeUInt32LE(slotSize, i * vector.size + vector.length)
      this.#headers.writeUInt32LE(addressSize, at + header.nameSize)
    }
  }

  /** Where a packet begins in `bytes`. */
  offset(i: number): number {
    return i * this.slotSize
  }

  /** The address of a packet. */
  address(i: number): number {
    return this.#base + i * this.slotSize
  }

  /** The address of a message, to send those from it. */
  message(i: number): number {
    return this.messages + i * header.size
  }

  /** Prepares a packet for sending: its size in bytes, and a `struct sockaddr_in`. */
  prepare(i: number, size: number, destination: Buffer): void {
    this.#vectors.writeUInt32LE(size, i * vector.size + vector.length)
    if (this.#destinations[i] === destination) return
    this.#destinations[i] = destination
    destination.copy(this.#addresses, i * addressSize)
  }

  /** Prepares the first packets for being received once more: the kernel has written the sizes of addresses. */
  reset(count: number): void {
    for (let i = 0; i < count; i++) this.#headers.writeUInt32LE(addressSize, i * header.size + header.nameSize)
  }

  /** The size of a received packet in bytes; 0 if it was longer than the memory. */
  receivedSize(i: number): number {
    const at = i * header.size
    return (this.#headers.readUInt32LE(at + header.flags) & cutOff) === 0
      ? this.#headers.readUInt32LE(at + header.length)
      : 0
  }

  /** The sender of a received packet, for messages. */
  sender(i: number): string {
    return [...this.#addresses.subarray(i * addressSize + 4, i * addressSize + 8)].join('.')
  }
}
