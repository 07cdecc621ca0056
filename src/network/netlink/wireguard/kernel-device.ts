/** A device of WireGuard in the kernel, by generic netlink. */
import type { SystemCalls } from '../../../lib/linux/system-calls.ts'
import { findFamily, genericAttributes, genericBody } from '../generic-family.ts'
import { NetlinkSocket, protocols } from '../netlink-socket.ts'
import { decodeState, deviceName, encodeChange } from './device-messages.ts'
import type { WireguardChange, WireguardDevice, WireguardState } from './wireguard-device.ts'

const familyName = 'wireguard'
const version = 1
const commands = { get: 0, set: 1 } as const
/** Peers of one message: netlink's messages have 64 KiB. */
const peersOfMessage = 100

export class KernelDevice implements WireguardDevice {
  readonly #calls: SystemCalls
  readonly #name: string

  /** The device exists. */
  constructor(calls: SystemCalls, name: string) {
    this.#calls = calls
    this.#name = name
  }

  async read(): Promise<WireguardState> {
    return this.#use((socket, family) => {
      const body = genericBody(commands.get, version, [deviceName(this.#name)])
      return decodeState(socket.dump(`read the peers of ${this.#name}`, family, body).map(genericAttributes))
    })
  }

  async change({ privateKey, listenPort, peers = [], removed = [] }: WireguardChange): Promise<void> {
    const parts: WireguardChange[] = [{ privateKey, listenPort }]
    for (let at = 0; at < removed.length; at += peersOfMessage)
      parts.push({ removed: removed.slice(at, at + peersOfMessage) })
    for (let at = 0; at < peers.length; at += peersOfMessage)
      parts.push({ peers: peers.slice(at, at + peersOfMessage) })
    this.#use((socket, family) => {
      for (const part of parts) {
        const body = genericBody(commands.set, version, encodeChange(this.#name, part))
        socket.change(`configure ${this.#name}`, family, 0, body)
      }
    })
  }

  #use<Result>(use: (socket: NetlinkSocket, family: number) => Result): Result {
    const socket = NetlinkSocket.open(this.#calls, undefined, protocols.generic)
    try {
      return use(socket, findFamily(socket, familyName))
    } finally {
      socket.close()
    }
  }
}
