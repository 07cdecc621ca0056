/** Carries packets between a TUN device and a UDP socket, on a thread of its own, until it is stopped. */
import { closeSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { cLibrary } from '../../../../lib/linux/c-library.ts'
import type { CarrierCommand, CarrierReport, CarrierStart, Peer } from './carrier-messages.ts'
import { openTun } from './tun-device.ts'
import { openUdpSocket } from './udp-socket.ts'

const file = new URL(
  import.meta.url.endsWith('.ts') ? './thread/carrier-worker.ts' : './flannel-udp-worker.js',
  import.meta.url,
)
/** EFD_CLOEXEC and EFD_NONBLOCK. */
const eventFlags = 0o2004000
const one = Buffer.from([1, 0, 0, 0, 0, 0, 0, 0])

export interface CarrierOptions {
  /** The name of the TUN device, which is created if it is missing. */
  readonly device: string
  /** The address and the port of this node. */
  readonly address: string
  readonly port: number
  /** The largest packet of this node's pods, in bytes. */
  readonly mtu: number
  /** Logs why packets are lost. */
  readonly log: (line: string) => void
}

export class PacketCarrier {
  readonly #worker: Worker
  readonly #wake: () => void
  readonly #exited: Promise<void>
  readonly #stopAtExit = (): void => this.#post({ stop: true })
  #hasEnded = false

  /**
   * Opens the device and the socket, and starts the thread.
   * @throws an Error with a sentence if the device or the port is not available.
   */
  constructor({ device, address, port, mtu, log }: CarrierOptions) {
    const { declare, check } = cLibrary()
    const write = declare<[number, Uint8Array, number]>('intptr_t write(int fd, const uint8_t *bytes, size_t size)')
    const close = declare<[number]>('int close(int fd)')
    const eventfd = declare<[number, number]>('int eventfd(unsigned int value, int flags)')
    const tun = openTun(device)
    let socket = -1
    let wake = -1
    const closeAll = (): void => {
      closeSync(tun)
      for (const fd of [socket, wake]) if (fd >= 0) close(fd)
    }
    try {
      socket = openUdpSocket(address, port)
      wake = check('eventfd', eventfd(0, eventFlags))
    } catch (error) {
      closeAll()
      throw error
    }
    this.#wake = () => void write(wake, one, one.length)
    const start: CarrierStart = { tun, socket, wake, mtu }
    this.#worker = new Worker(file, { name: 'flannel-udp', workerData: start, trackUnmanagedFds: false })
    this.#worker.on('message', ({ problem }: CarrierReport) => log(`udp: ${problem}`))
    this.#worker.on('error', (error: Error) => log(`udp: the thread that carries packets has failed: ${error.message}`))
    this.#exited = new Promise((resolve) =>
      this.#worker.once('exit', () => {
        process.off('exit', this.#stopAtExit)
        this.#hasEnded = true
        closeAll()
        resolve()
      }),
    )
    this.#worker.unref()
    // The process would wait for the thread, which waits for the kernel.
    process.once('exit', this.#stopAtExit)
  }

  /** True if the thread has ended by itself. */
  get hasEnded(): boolean {
    return this.#hasEnded
  }

  /** Replaces the other nodes to which packets go. */
  setPeers(peers: readonly Peer[]): void {
    this.#post({ peers })
  }

  /** Ends the thread. The device remains, and loses packets. */
  async stop(): Promise<void> {
    this.#worker.ref()
    this.#post({ stop: true })
    await this.#exited
  }

  #post(command: CarrierCommand): void {
    if (this.#hasEnded) return
    this.#worker.postMessage(command)
    this.#wake()
  }
}
