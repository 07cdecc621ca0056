/**
 * Watches what hosts on the bridge say about addresses: another host that uses the address of a pod is a conflict, in
 * which the node defends the address; an address of another host that moves is logged. Frames are read twice a second
 * from one socket, without a thread.
 */
import type { Log } from '../../../lib/log/log.ts'
import { messageOf } from '../../../lib/message-of.ts'
import type { ReceivedFrame } from '../../../network/arp/capture/packet-socket.ts'
import { type AddressClaim, claimOf } from '../../../network/arp/check/address-claim.ts'
import { ArpObserver } from '../../../network/arp/meaning/arp-observer.ts'
import { arpOf } from '../../../network/arp/wire/arp-packet.ts'
import { decodeFrame } from '../../../network/arp/wire/ethernet-frame.ts'
import { DefenceTimes, defendIntervalMs } from './defence-times.ts'

/** A pod on the bridge. */
export interface WatchedPod {
  /** Unique among the pods of the bridge: the ID of its sandbox. */
  readonly id: string
  readonly name: string
  readonly namespace: string
  readonly uid: string
  readonly addresses: readonly string[]
  /** The hardware address of its interface. */
  readonly hardware: string
  /** The file of its network namespace, and its interface there. */
  readonly namespaceFile: string
  readonly interfaceName: string
}

/** A socket that has the frames of the bridge. */
export interface FrameSource {
  receive(): ReceivedFrame | undefined
  close(): void
}

/** The bridge while it is watched. */
export interface OpenedBridge {
  readonly socket: FrameSource
  /** Its own hardware address. */
  readonly hardware: string
  /** Its addresses of IPv4: the gateways of pods. */
  readonly gateways: readonly string[]
}

export interface BridgeWatchOptions {
  /** The name of the bridge. */
  readonly bridge: string
  /** Opens a socket. */
  readonly open: () => OpenedBridge
  /** Announces the addresses of a pod to all hosts on the bridge. May throw. */
  readonly announce: (pod: WatchedPod) => void
  /** Called for each conflict in which the node has defended the address; the log has the first one only. */
  readonly onConflict: (pod: WatchedPod, message: string) => void
  /** In ms, since any time. */
  readonly now: () => number
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
  readonly #defences = new DefenceTimes()
  #opened: OpenedBridge | undefined
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
    this.#defences.forget(id)
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
      const { gateways, hardware } = (this.#opened = this.#options.open())
      for (const gateway of gateways) this.#observer.learn(gateway, hardware, true, 0)
    } catch (error) {
      this.#report(`the addresses on ${this.#options.bridge} are not watched: ${messageOf(error)}`)
    }
  }

  #inspect({ bytes, timeUs }: ReceivedFrame): void {
    const claim = claimOf(bytes)
    if (!claim || claim.hardware === this.#opened?.hardware) return
    const pod = [...this.#pods.values()].find(({ addresses }) => addresses.includes(claim.address))
    if (pod) this.#checkPod(pod, claim)
    else this.#checkOther(bytes, timeUs / 1000)
  }

  #checkPod(pod: WatchedPod, { address, hardware, isProbe }: AddressClaim): void {
    if (hardware === pod.hardware) return
    if (isProbe) this.#checkProbe(pod, address, hardware)
    else if (this.#defences.take(pod.id, this.#options.now())) this.#defend(pod, address, hardware)
  }

  /** The kernel of the pod answers it: no announcement is necessary. */
  #checkProbe(pod: WatchedPod, address: string, hardware: string): void {
    const message =
      `The host ${hardware} on ${this.#options.bridge} probes for the address ${address} of this pod, which is at ` +
      `${pod.hardware}: the pod answers, so that the host takes another one. Give that host addresses of another range.`
    if (this.#logOnce(pod, message)) this.#options.onConflict(pod, message)
  }

  #defend(pod: WatchedPod, address: string, hardware: string): void {
    const { bridge, announce, onConflict } = this.#options
    const message =
      `The host ${hardware} on ${bridge} uses the address ${address} of this pod, which is at ${pod.hardware}: ` +
      'packets reach the one that spoke last, so the node announces the address of the pod, at most once in ' +
      `${defendIntervalMs / 1000} s. Remove that host from the network, or give it another address.`
    this.#logOnce(pod, message)
    try {
      announce(pod)
    } catch (error) {
      // The pod ends at this moment.
      this.#report(`the address ${address} of ${pod.namespace}/${pod.name} was not announced: ${messageOf(error)}`)
    }
    onConflict(pod, message)
  }

  /** Returns false if the log has the message already. */
  #logOnce(pod: WatchedPod, message: string): boolean {
    if (this.#isKnown(`${pod.uid} ${message}`)) return false
    this.#options.log(`pod ${pod.namespace}/${pod.name}: ${message}`, 'warning')
    return true
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
