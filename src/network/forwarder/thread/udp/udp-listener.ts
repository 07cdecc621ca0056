/** Forwards UDP packets of one listener. Packets of one client and port are a flow, and go to one target. */
import type { Listener } from '../../listener.ts'
import { type EventHandler, ready } from '../event-loop.ts'
import { filterClients, openListener } from '../listening-socket.ts'
import { decodeAddress, encodeAddress, longestAddress } from '../socket-address.ts'
import { linux } from '../socket-calls.ts'
import type { TargetChoice } from '../target-choice.ts'
import { targetsOf } from '../targets-of.ts'
import type { ConnectionRoom } from '../tcp/tcp-connection.ts'
import { UdpFlow } from './udp-flow.ts'

const packetsPerTurn = 64
/** Each flow has a socket. The oldest one ends for a new one. */
const mostFlows = 4096
const datagram = Buffer.alloc(65_536)

export class UdpListener implements EventHandler {
  readonly #room: ConnectionRoom
  readonly #choice: TargetChoice
  readonly #fd: number
  readonly #token: number
  readonly #endTicks: () => void
  /** By the bytes of the client's address and port; the oldest one is first. */
  readonly #flows = new Map<string, UdpFlow>()
  readonly #address = Buffer.alloc(longestAddress)
  readonly #length = new Int32Array(1)
  #listener: Listener

  /** @throws a `SystemCallError` if the address is not available. */
  constructor(room: ConnectionRoom, listener: Listener, choice: TargetChoice) {
    this.#room = room
    this.#listener = listener
    this.#choice = choice
    this.#fd = openListener(room.calls, listener)
    this.#token = room.loop.add(this.#fd, ready.in, this)
    this.#endTicks = room.loop.eachSecond((now) => this.#expire(now))
  }

  /** Replaces all but the address. Flows end whose target is none any more, as after a clean-up of conntrack. */
  update(listener: Listener): void {
    filterClients(this.#room.calls, this.#fd, listener)
    this.#listener = listener
    for (const [key, { client, target }] of this.#flows) {
      const targets = targetsOf(listener, decodeAddress(client))
      if (!targets.some(({ address, port }) => address === target.address && port === target.port)) this.#end(key)
    }
  }

  onEvents(): void {
    const { receiveFrom } = this.#room.calls
    for (let i = 0; i < packetsPerTurn; i++) {
      this.#length[0] = longestAddress
      const size = receiveFrom(this.#fd, datagram, datagram.length, 0, this.#address, this.#length)
      // Errors are answers of ICMP to packets that were sent before.
      if (size < 0) return
      const client = this.#address.subarray(0, this.#length[0])
      const key = client.toString('latin1')
      const flow = this.#flows.get(key) ?? this.#begin(key, client)
      flow?.send(datagram, size, performance.now())
    }
  }

  close(): void {
    this.#endTicks()
    for (const key of this.#flows.keys()) this.#end(key)
    this.#room.loop.remove(this.#token)
    this.#room.calls.close(this.#fd)
  }

  #begin(key: string, address: Buffer): UdpFlow | undefined {
    const { calls, loop } = this.#room
    const listener = this.#listener
    const name = decodeAddress(address)
    const target = this.#choice.choose(targetsOf(listener, name), name, listener.affinityMs, performance.now())
    if (!target) return undefined
    const [oldest] = this.#flows.size >= mostFlows ? this.#flows.keys() : []
    if (oldest !== undefined) this.#end(oldest)
    const to = encodeAddress(target)
    const fd = calls.socket(to.readUInt16LE(0), linux.datagram | linux.nonBlocking | linux.closeOnExec, 0)
    if (fd < 0) return undefined
    if (calls.connect(fd, to, to.length) < 0) {
      calls.close(fd)
      return undefined
    }
    const client = Buffer.from(address)
    try {
      const flow = new UdpFlow({ calls, loop, fd, client, target, listener: this.#fd, onFailure: () => this.#end(key) })
      this.#flows.set(key, flow)
      return flow
    } catch {
      calls.close(fd)
      return undefined
    }
  }

  #end(key: string): void {
    this.#flows.get(key)?.close()
    this.#flows.delete(key)
  }

  #expire(now: number): void {
    for (const [key, flow] of this.#flows) if (flow.isIdle(now)) this.#end(key)
  }
}
