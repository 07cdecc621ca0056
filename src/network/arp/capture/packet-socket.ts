/**
 * A socket that receives and sends whole frames (packet(7)). Nothing here blocks, so that it needs no thread: the
 * kernel stores frames until they are read. Closing one takes the kernel ten milliseconds or more.
 */
import { constants } from 'node:os'
import { inNetwork } from '../../../lib/linux/network-namespace.ts'
import type { SystemCalls } from '../../../lib/linux/system-calls.ts'
import { type PacketCalls, packetCalls } from './packet-calls.ts'

const family = 17
const rawSocket = 3
const closeOnExec = 0o2000000
const doNotWait = 0x40
const pollIn = 1
const allProtocols = 3
const addressSize = 20
const socketLevel = 1
const attachFilter = 26
const packetLevel = 263
const statistics = 6
/** SIOCGSTAMPNS: the time at which the last frame that was read arrived. */
const readTime = 0x8907
const outgoing = 4
/** Longer than any frame of ARP. */
const bufferSize = 2048

export interface ReceivedFrame {
  readonly bytes: Buffer
  /** Index of the interface. */
  readonly link: number
  /** True for a frame that this machine has sent. */
  readonly isOutgoing: boolean
  /** Microseconds since 1970. */
  readonly timeUs: number
}

export interface PacketSocketOptions {
  readonly calls: SystemCalls
  /** File of the network namespace. Default: that of the thread. */
  readonly namespace?: string | undefined
  /** Index of the interface. Default: all interfaces. */
  readonly link?: number | undefined
  /** A program that chooses the frames. */
  readonly filter: Buffer
}

export class PacketSocket {
  readonly #calls: PacketCalls
  readonly #fd: number
  readonly #buffer = Buffer.alloc(bufferSize)

  private constructor(calls: PacketCalls, fd: number) {
    this.#calls = calls
    this.#fd = fd
  }

  /** @throws a `SystemCallError`: EPERM without the capability NET_RAW. */
  static open({ calls, namespace, link = 0, filter }: PacketSocketOptions): PacketSocket {
    const packets = packetCalls()
    // Without a protocol it receives nothing until the filter is set.
    const open = (): number => packets.check('socket', packets.socket(family, rawSocket | closeOnExec, 0))
    const fd = namespace === undefined ? open() : inNetwork(calls, namespace, open)
    try {
      const program = { length: filter.length / 8, program: filter }
      packets.check('setsockopt', packets.setFilter(fd, socketLevel, attachFilter, program, 16))
      // The first call fails, and lets the kernel store the times of frames.
      packets.control(fd, readTime, Buffer.alloc(16))
      packets.check('bind', packets.bind(fd, linkAddress(link, allProtocols), addressSize))
      return new PacketSocket(packets, fd)
    } catch (error) {
      packets.close(fd)
      throw error
    }
  }

  /** Returns the next frame; undefined if none has arrived. @throws ENETDOWN if the interface went down. */
  receive(): ReceivedFrame | undefined {
    const from = Buffer.alloc(addressSize)
    const length = this.#calls.receiveFrom(
      this.#fd,
      this.#buffer,
      bufferSize,
      doNotWait,
      from,
      Int32Array.of(addressSize),
    )
    if (length < 0 && this.#calls.errno() === constants.errno.EAGAIN) return undefined
    this.#calls.check('recvfrom', length)
    return {
      // The buffer is used again.
      bytes: Buffer.from(this.#buffer.subarray(0, length)),
      link: from.readInt32LE(4),
      isOutgoing: from[10] === outgoing,
      timeUs: this.#arrival(),
    }
  }

  /** Sends a frame on an interface. @throws a `SystemCallError`: ENXIO or ENETDOWN if it is not there or down. */
  send(link: number, frame: Buffer): void {
    const { sendTo, check } = this.#calls
    check('sendto', sendTo(this.#fd, frame, frame.length, doNotWait, linkAddress(link, 0), addressSize))
  }

  /** Blocks the thread until a frame has arrived; returns false if none has after `ms`. */
  wait(ms: number): boolean {
    const descriptor = Buffer.alloc(8)
    descriptor.writeInt32LE(this.#fd, 0)
    descriptor.writeInt16LE(pollIn, 4)
    return this.#calls.poll(descriptor, 1, ms) > 0
  }

  /** Returns the frames that were dropped since the last call, because they were not read in time. */
  takeDropped(): number {
    const counts = Buffer.alloc(8)
    this.#calls.check(
      'getsockopt',
      this.#calls.getOption(this.#fd, packetLevel, statistics, counts, Int32Array.of(counts.length)),
    )
    return counts.readUInt32LE(4)
  }

  close(): void {
    this.#calls.close(this.#fd)
  }

  #arrival(): number {
    const time = Buffer.alloc(16)
    if (this.#calls.control(this.#fd, readTime, time) < 0) return Math.round(Date.now() * 1000)
    return Number(time.readBigInt64LE(0)) * 1e6 + Math.floor(Number(time.readBigInt64LE(8)) / 1000)
  }
}

/** `struct sockaddr_ll`. */
function linkAddress(link: number, protocol: number): Buffer {
  const bytes = Buffer.alloc(addressSize)
  bytes.writeUInt16LE(family, 0)
  bytes.writeUInt16BE(protocol, 2)
  bytes.writeInt32LE(link, 4)
  return bytes
}
