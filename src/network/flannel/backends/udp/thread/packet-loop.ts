/** Carries packets until it is stopped: from the TUN device to nodes, and from nodes to the device. */
import { constants } from 'node:os'
import type { CarrierStart } from '../carrier-messages.ts'
import type { CarrierCalls } from './carrier-calls.ts'
import { decrementTtl, destinationOf, isIPv4Packet, netUnreachable, shortestHeader } from './ip-packet.ts'
import { batchSize, MessageBatch } from './message-batch.ts'
import type { PeerTable } from './peer-table.ts'

const { EAGAIN, EINTR } = constants.errno
/** MSG_DONTWAIT. */
const dontWait = 0x40
/** POLLIN. */
const readable = 1
/** `struct pollfd`. */
const entrySize = 8
/** Where the space for a packet begins. */
const packetAt = 64
/** The process's end waits for the loop for at most this time in ms, if nothing wakes it. */
const longestWaitMs = 250
/** For this time in ms, a device that fails (it is down) is not read. */
const pauseMs = 50
/** Turns with packets between two looks at commands. */
const turnsPerPoll = 32
/** Other nodes may have larger packets, in bytes. */
const largestUsualPacket = 9216

export interface LoopOptions extends CarrierStart {
  readonly calls: CarrierCalls
  readonly peers: PeerTable
  /** Called with the call that failed, and the number of its error, for a packet that is lost. */
  readonly report: (call: string, errno: number) => void
  /** Called when `wake` was written. */
  readonly onWake: () => void
}

export class PacketLoop {
  readonly #options: LoopOptions
  readonly #outgoing: MessageBatch
  readonly #incoming: MessageBatch
  /** `struct pollfd` of the device, the socket, and `wake`; then space for one packet. V8 moves smaller memory. */
  readonly #scratch = Buffer.alloc(4096)
  readonly #scratchAt: number
  #pausedUntil = 0
  #isStopped = false

  constructor(options: LoopOptions) {
    this.#options = options
    const { calls, mtu } = options
    const slotSize = Math.max(mtu, largestUsualPacket)
    this.#outgoing = new MessageBatch(calls.addressOf, slotSize)
    this.#incoming = new MessageBatch(calls.addressOf, slotSize)
    this.#scratchAt = calls.addressOf(this.#scratch)
    for (const [i, fd] of [options.tun, options.socket, options.wake].entries()) {
      this.#scratch.writeInt32LE(fd, i * entrySize)
      this.#scratch.writeUInt16LE(readable, i * entrySize + 4)
    }
  }

  stop(): void {
    this.#isStopped = true
  }

  /** Runs until `stop`. */
  run(): void {
    let sentBefore = false
    while (!this.#isStopped) {
      let { out, in: isIn } = this.#wait()
      // A single packet needs three calls: poll, and one each to take it and to pass it on. More of them come together.
      let isBurst = out && (isIn || sentBefore)
      sentBefore = out
      for (let turn = 0; (out || isIn) && turn < turnsPerPoll && !this.#isStopped; turn++) {
        const received = isIn ? this.#carryIn() : 0
        // The answer may be there already, if this machine itself gives it.
        const sent = out || received > 0 ? this.#carryOut(isBurst || received > 1 ? batchSize : 1) : 0
        // Reading what may be there is cheaper than asking.
        isBurst = sent > 1 || received > 1
        out = isBurst
        isIn = isBurst
      }
    }
  }

  /** Waits for packets of this machine (`out`) or of others (`in`), and reads commands. */
  #wait(): { readonly out: boolean; readonly in: boolean } {
    const { calls, wake, onWake, tun } = this.#options
    const isPaused = this.#isPaused()
    this.#scratch.writeInt32LE(isPaused ? -1 : tun, 0)
    // After an interrupted call, the results are those of an earlier one.
    if (calls.poll(this.#scratchAt, 3, isPaused ? pauseMs : longestWaitMs) <= 0) return { out: false, in: false }
    if (this.#happened(2)) {
      calls.read(wake, this.#scratchAt + packetAt, 8)
      onWake()
    }
    return { out: this.#happened(0), in: this.#happened(1) }
  }

  /** True if poll has found something, also an error, which reading reports. */
  #happened(entry: number): boolean {
    return this.#scratch.readUInt16LE(entry * entrySize + 6) !== 0
  }

  /** Sends packets of the device, at most so many. Returns how many were read. */
  #carryOut(most: number): number {
    const { calls, tun, report } = this.#options
    const batch = this.#outgoing
    if (this.#isPaused()) return 0
    let count = 0
    let reads = 0
    for (; reads < most; reads++) {
      const size = calls.read(tun, batch.address(count), batch.slotSize)
      if (size < 0) {
        const errno = calls.errno()
        if (errno !== EAGAIN && errno !== EINTR) {
          report('read a packet', errno)
          this.#pausedUntil = performance.now() + pauseMs
        }
        break
      }
      if (this.#prepare(count, size)) count++
    }
    if (count > 0) this.#send(count)
    return reads
  }

  /** False for a packet that is not sent. */
  #prepare(i: number, size: number): boolean {
    const batch = this.#outgoing
    const at = batch.offset(i)
    // IPv6 has no way in this backend: the device itself asks for routers.
    if (!isIPv4Packet(batch.bytes, at, size)) return false
    const node = this.#options.peers.find(destinationOf(batch.bytes, at))
    if (!node) {
      this.#rejectPacket(batch.bytes.subarray(at, at + size))
      return false
    }
    if (!decrementTtl(batch.bytes, at)) return false
    batch.prepare(i, size, node)
    return true
  }

  #rejectPacket(packet: Buffer): void {
    const error = netUnreachable(packet)
    if (!error) return
    error.copy(this.#scratch, packetAt)
    this.#write(this.#scratchAt + packetAt, error.length)
  }

  #send(count: number): void {
    const { calls, socket, report } = this.#options
    const batch = this.#outgoing
    for (let done = 0; done < count; ) {
      // It waits while the socket's memory is full; packets then wait in the device.
      const sent = calls.sendMany(socket, batch.message(done), count - done, 0)
      if (sent > 0) done += sent
      else if (calls.errno() !== EINTR) {
        report('send a packet', calls.errno())
        done++
      }
    }
  }

  /** Gives packets of nodes to the device. Returns their number. */
  #carryIn(): number {
    const { calls, socket, report } = this.#options
    const batch = this.#incoming
    const count = calls.receiveMany(socket, batch.messages, batchSize, dontWait, 0)
    if (count < 0) {
      const errno = calls.errno()
      if (errno !== EAGAIN && errno !== EINTR) report('receive a packet', errno)
      return 0
    }
    for (let i = 0; i < count; i++) {
      const size = batch.receivedSize(i)
      const at = batch.offset(i)
      if (size < shortestHeader || !isIPv4Packet(batch.bytes, at, size)) continue
      if (decrementTtl(batch.bytes, at)) this.#write(batch.address(i), size)
    }
    batch.reset(count)
    return count
  }

  #write(address: number, size: number): void {
    const { calls, tun, report } = this.#options
    if (calls.write(tun, address, size) >= 0) return
    report('deliver a packet', calls.errno())
  }

  #isPaused(): boolean {
    return this.#pausedUntil > 0 && performance.now() < this.#pausedUntil
  }
}
