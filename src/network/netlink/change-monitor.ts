/** Notices that interfaces, addresses, routes or neighbours of a network namespace changed (rtnetlink(7)). */
import { errorCode } from '../../lib/explained-error.ts'
import type { SystemCalls } from '../../lib/linux/system-calls.ts'

const family = 16
/** SOCK_RAW, SOCK_NONBLOCK, SOCK_CLOEXEC. */
const socketType = 3 | 0o4000 | 0o2000000
const routeProtocol = 0
/** SOL_NETLINK and NETLINK_ADD_MEMBERSHIP. */
const optionLevel = 270
const addMembership = 1

/** Groups of the kernel's notices. */
export const changeGroups = {
  links: 1,
  neighbors: 3,
  ipv4Addresses: 5,
  ipv4Routes: 7,
  ipv6Addresses: 9,
  ipv6Routes: 11,
}

export class ChangeMonitor {
  readonly #calls: SystemCalls
  readonly #fd: number
  readonly #buffer = Buffer.alloc(32 * 1024)

  /** Listens from now on, in the network namespace of the thread. */
  constructor(calls: SystemCalls, groups: readonly number[]) {
    this.#calls = calls
    this.#fd = calls.socket(family, socketType, routeProtocol)
    const address = Buffer.alloc(12)
    address.writeUInt16LE(family)
    // The kernel sends notices only to sockets with a port.
    calls.connect(this.#fd, address)
    for (const group of groups) {
      const value = Buffer.alloc(4)
      value.writeUInt32LE(group)
      calls.setSocketOption(this.#fd, optionLevel, addMembership, value)
    }
  }

  /** Returns true if something changed since the last call. Never waits. */
  hasChanged(): boolean {
    for (let changed = false; ; changed = true) {
      try {
        this.#calls.receive(this.#fd, this.#buffer)
      } catch (error) {
        if (errorCode(error) === 'EAGAIN') return changed
        // There were more notices than the socket holds.
        if (errorCode(error) !== 'ENOBUFS') throw error
      }
    }
  }

  close(): void {
    this.#calls.close(this.#fd)
  }
}
