/** Accepts TCP connections of one listener. */
import type { Listener, Target } from '../../listener.ts'
import { type EventHandler, ready } from '../event-loop.ts'
import { filterClients, openListener } from '../listening-socket.ts'
import { decodeAddress, longestAddress } from '../socket-address.ts'
import { EMFILE, ENFILE, ENOBUFS, ENOMEM, linux } from '../socket-calls.ts'
import type { TargetChoice } from '../target-choice.ts'
import { targetsOf } from '../targets-of.ts'
import { type ConnectionRoom, TcpConnection } from './tcp-connection.ts'

const acceptedPerTurn = 64
const acceptFlags = linux.nonBlocking | linux.closeOnExec
const exhausted: ReadonlySet<number> = new Set([EMFILE, ENFILE, ENOBUFS, ENOMEM])

export class TcpListener implements EventHandler {
  readonly #room: ConnectionRoom
  readonly #choice: TargetChoice
  readonly #fd: number
  readonly #address = Buffer.alloc(longestAddress)
  readonly #length = new Int32Array(1)
  #listener: Listener
  #token: number
  #endPause: (() => void) | undefined

  /** @throws a `SystemCallError` if the address is not available. */
  constructor(room: ConnectionRoom, listener: Listener, choice: TargetChoice) {
    this.#room = room
    this.#listener = listener
    this.#choice = choice
    this.#fd = openListener(room.calls, listener)
    this.#token = room.loop.add(this.#fd, ready.in, this)
  }

  /** Replaces all but the address. Open connections go on. */
  update(listener: Listener): void {
    filterClients(this.#room.calls, this.#fd, listener)
    this.#listener = listener
  }

  onEvents(): void {
    for (let i = 0; i < acceptedPerTurn; i++) if (!this.#accept()) return
  }

  /** Connections that the kernel has accepted are served; open ones go on. */
  close(): void {
    while (this.#accept());
    this.#endPause?.()
    this.#room.loop.remove(this.#token)
    this.#room.calls.close(this.#fd)
  }

  #accept(): boolean {
    const { calls } = this.#room
    const listener = this.#listener
    const { inside, affinityMs } = listener
    const needsClient = inside !== undefined || affinityMs !== undefined
    this.#length[0] = longestAddress
    const fd = needsClient
      ? calls.accept(this.#fd, this.#address, this.#length, acceptFlags)
      : calls.acceptAny(this.#fd, null, null, acceptFlags)
    if (fd < 0) {
      if (exhausted.has(calls.errno())) this.#pause()
      return false
    }
    const client = needsClient ? decodeAddress(this.#address) : ''
    const targets = targetsOf(listener, client)
    const next = (tried: readonly Target[]): Target | undefined =>
      this.#choice.choose(targets, client, affinityMs, performance.now(), tried)
    new TcpConnection(this.#room, fd, next).start()
    return true
  }

  /** Without resources of the process or the kernel, clients wait. */
  #pause(): void {
    const { loop } = this.#room
    if (this.#endPause) return
    loop.pause(this.#fd, this.#token)
    this.#endPause = loop.eachSecond(() => {
      this.#endPause?.()
      this.#endPause = undefined
      this.#token = loop.add(this.#fd, ready.in, this)
    })
  }
}
