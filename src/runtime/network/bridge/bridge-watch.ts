/**
 * Watches what hosts on the bridge say about addresses: another host that has the address of a pod is a conflict, and
 * an address of another host that moves is logged. Frames are read twice a second from a socket, without a thread.
 */
import type { Log } from '../../../lib/log/log.ts'
import { messageOf } from '../../../lib/message-of.ts'
import type { ReceivedFrame } from '../../../network/arp/capture/packet-socket.ts'
import { claimOf } from '../../../network/arp/check/address-claim.ts'
import { ArpObserver } from '../../../network/arp/meaning/arp-observer.ts'
import { arpOf } from '../../../network/arp/wire/arp-packet.ts'
import { decodeFrame } from '../../../network/arp/wire/ethernet-frame.ts'

/** A pod on the bridge. */
export interface WatchedPod {
  /** The ID of its sandbox. */
  readonly id: string
  readonly name: string
  readonly namespace: string
  readonly uid: string
  readonly addresses: readonly string[]
  /** The hardware address of its interface. */
  readonly hardware: string
}

/** A socket that has the frames of the bridge. */
export interface FrameSource {
  receive(): ReceivedFrame | undefined
  close(): void
}

export interface BridgeWatchOptions {
  /** The name of the bridge. */
  readonly bridge: string
  /** Opens a socket; returns it with the hardware address of the bridge. */
  readonly open: () => { readonly socket: FrameSource; readonly hardware: string }
  readonly onConflict: (pod: WatchedPod, message: string) => void
  readonly log: Log
}

const intervalMs = 500
/** Frames that are read at once; others wait in the socket. */
const maxFrames = 500
/** Reports that are remembered, so that each is made once. */
const maxReports = 1000

export class BridgeWatch {
  readonly #options: BridgeWatchOptions
  readonly #pods = new Map<string, WatchedPod>()
  readonly #observer = new ArpObserver()
  readonly #reports = new Set<string>()
  #opened: ReturnType<BridgeWatchOptions['open']> | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(options: BridgeWatchOptions) {
    this.#options = options
  }

  /** Watches the addresses of a pod that is connected. */
  add(pod: WatchedPod): void {
    this.#pods.set(pod.id, pod)
    this.#timer ??= setInterval(() => this.read(), intervalMs).unref()
    this.#open()
  }

  /** The bridge goes with the last pod. */
  remove(id: string): void {
    this.#pods.delete(id)
    if (this.#pods.size === 0) this.close()
  }

  close(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    this.#opened?.socket.close()
    this.#opened = undefined
  }

  /** Reads the frames that have arrived. */
  read(): void {
    try {
      for (let count = 0; count < maxFrames; count += 1) {
        const frame = this.#opened?.socket.receive()
        if (!frame) return
        if (!frame.isOutgoing) this.#inspect(frame)
      }
    } catch (error) {
      // The bridge was removed or is down: its addresses are of no use then.
      this.#report(`the addresses on ${this.#options.bridge} are not watched: ${messageOf(error)}`)
      this.close()
    }
  }

  #open(): void {
    if (this.#opened) return
    try {
      this.#opened = this.#options.open()
    } catch (error) {
      this.#report(`the addresses on ${this.#options.bridge} are not watched: ${messageOf(error)}`)
    }
  }

  #inspect({ bytes, timeUs }: ReceivedFrame): void {
    const claim = claimOf(bytes)
    if (!claim || claim.hardware === this.#opened?.hardware) return
    const pod = [...this.#pods.values()].find(({ addresses }) => addresses.includes(claim.address))
    if (pod) this.#checkPod(pod, claim.address, claim.hardware)
    else this.#checkOther(bytes, timeUs / 1000)
  }

  #checkPod(pod: WatchedPod, address: string, hardware: string): void {
    if (hardware === pod.hardware || this.#isKnown(`${pod.uid} ${address} ${hardware}`)) return
    const message =
      `The host ${hardware} on ${this.#options.bridge} uses the address ${address} of this pod, which is at ` +
      `${pod.hardware}: packets reach one of the two. Remove that host from the network, then delete the pod.`
    this.#options.onConflict(pod, message)
  }

  /** A host that is no pod of this runtime: IPv4 only. */
  #checkOther(bytes: Buffer, timeMs: number): void {
    const frame = decodeFrame(bytes)
    const arp = frame && arpOf(frame.payload)
    if (!frame || !arp) return
    const { source, destination } = frame
    for (const { kind, message, address, hardware } of this.#observer.observe({ arp, source, destination, timeMs }))
      if (kind === 'changed' || kind === 'duplicate' || kind === 'spoofed')
        if (!this.#isKnown(`${kind} ${address} ${hardware.join()}`))
          this.#options.log(`${this.#options.bridge}: ${message}`, 'warning')
  }

  #report(message: string): void {
    if (!this.#isKnown(message)) this.#options.log(message, 'warning')
  }

  /** Returns true for what was reported before; many reports end the memory of all. */
  #isKnown(key: string): boolean {
    if (this.#reports.has(key)) return true
    if (this.#reports.size >= maxReports) this.#reports.clear()
    this.#reports.add(key)
    return false
  }
}
