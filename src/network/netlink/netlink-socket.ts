/** A socket of netlink, in the network namespace in which it was opened. Requests are synchronous. */
import { SystemCallError } from '../../lib/linux/c-library.ts'
import { inNetwork } from '../../lib/linux/network-namespace.ts'
import type { SystemCalls } from '../../lib/linux/system-calls.ts'
import { controlTypes, decodeAttributes, decodeMessages, encodeMessage, flags, textOf } from './message.ts'

const family = 16
const rawSocket = 3
const closeOnExec = 0o2000000

/**
 * NETLINK_ROUTE: interfaces, addresses, routes. NETLINK_XFRM: policies of IPsec. NETLINK_NETFILTER: connections.
 * NETLINK_GENERIC: families by name.
 */
export const protocols = { route: 0, xfrm: 6, netfilter: 12, generic: 16 } as const

/** SOL_NETLINK and its options: errors come with a text and without the request. */
const optionLevel = 270
const capAck = 10
const extendedAck = 11

/** Attribute of an error: its text. */
const errorText = 1

const enabled = Buffer.from([1, 0, 0, 0])

export class NetlinkSocket {
  readonly #calls: SystemCalls
  readonly #fd: number
  readonly #buffer = Buffer.alloc(64 * 1024)
  #sequence = 0

  private constructor(calls: SystemCalls, fd: number) {
    this.#calls = calls
    this.#fd = fd
  }

  /** Opens a socket in the namespace of a file; by default in that of the thread. */
  static open(calls: SystemCalls, namespace?: string, protocol: number = protocols.route): NetlinkSocket {
    const open = (): number => calls.socket(family, rawSocket | closeOnExec, protocol)
    const fd = namespace === undefined ? open() : inNetwork(calls, namespace, open)
    calls.setSocketOption(fd, optionLevel, capAck, enabled)
    calls.setSocketOption(fd, optionLevel, extendedAck, enabled)
    return new NetlinkSocket(calls, fd)
  }

  /** Changes something. `what` names it in errors: `create the bridge cni0`. */
  change(what: string, type: number, flagBits: number, body: Buffer): void {
    this.#exchange(what, type, flags.request | flags.ack | flagBits, body)
  }

  /** Returns the bodies of all objects of a kind. */
  dump(what: string, type: number, body: Buffer): Buffer[] {
    return this.#exchange(what, type, flags.request | flags.dump, body)
  }

  /** Returns the body of one object, followed by an acknowledgement. */
  get(what: string, type: number, body: Buffer): Buffer[] {
    return this.#exchange(what, type, flags.request | flags.ack, body)
  }

  close(): void {
    this.#calls.close(this.#fd)
  }

  #exchange(what: string, type: number, flagBits: number, body: Buffer): Buffer[] {
    const sequence = ++this.#sequence
    this.#calls.send(this.#fd, encodeMessage(type, flagBits, sequence, body))
    const found: Buffer[] = []
    for (;;) {
      const received = this.#buffer.subarray(0, this.#calls.receive(this.#fd, this.#buffer))
      for (const message of decodeMessages(received)) {
        if (message.sequence !== sequence) continue
        if (message.type === controlTypes.done) return found
        if (message.type === controlTypes.error) {
          throwError(what, message.body)
          return found
        }
        // The buffer is used again.
        found.push(Buffer.from(message.body))
      }
    }
  }
}

/** An error of zero is an acknowledgement. */
function throwError(what: string, body: Buffer): void {
  const errno = -body.readInt32LE(0)
  if (errno === 0) return
  const header = 16
  const reason = textOf(decodeAttributes(body, 4 + header).get(errorText))
  throw new SystemCallError(reason ? `${what}: ${reason}` : what, errno)
}
