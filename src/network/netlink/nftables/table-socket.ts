/** Changes and lists one table of nftables through netlink, without the program `nft`. */
import { ignoreErrors, SystemCallError } from '../../../lib/linux/c-library.ts'
import type { SystemCalls } from '../../../lib/linux/system-calls.ts'
import { controlTypes, decodeAttributes, decodeMessages, text, textOf } from '../message.ts'
import { NetlinkSocket, protocols } from '../netlink-socket.ts'
import { Batch, fixedPart, types } from './batch.ts'
import type { Command } from './commands.ts'

/** A table, as a mode of kube-proxy uses it. */
export interface Table {
  /**
   * Applies all commands, or none.
   * @throws an error that names the first command that failed.
   */
  change(commands: readonly Command[]): void
  /** Names of the chains. Empty if the table does not exist. */
  chains(): string[]
  /** The sets that have names, also maps. */
  sets(): FoundSet[]
  /** False if the chain has no rules, or does not exist. */
  hasRules(chain: string): boolean
}

export interface FoundSet {
  readonly name: string
  readonly timeoutSeconds: number
}

const netlinkFamily = 16
const rawSocket = 3
const closeOnExec = 0o2000000
const nonBlocking = 0o4000
const socketLevel = 1
const forcedSendBuffer = 32
const optionLevel = 270
const capAck = 10
const extendedAck = 11
const enabled = Buffer.from([1, 0, 0, 0])
const errorText = 1
const headerOfRequest = 16
const fixedSize = 4
const anonymousSet = 0x1

/** `nft` itself gives anonymous sets the lowest free number; these never meet it. */
const firstSetNumber = 1_000_000

/** The table in the network namespace of the thread. */
export class TableSocket implements Table {
  readonly #calls: SystemCalls
  readonly #family: 4 | 6
  readonly #table: string
  readonly #buffer = Buffer.alloc(64 * 1024)
  #setNumber = firstSetNumber

  constructor(calls: SystemCalls, family: 4 | 6, table: string) {
    this.#calls = calls
    this.#family = family
    this.#table = table
  }

  change(commands: readonly Command[]): void {
    if (commands.length === 0) return
    const batch = new Batch(this.#family, this.#table, () => `__map${this.#setNumber++}`)
    for (const [i, command] of commands.entries()) {
      batch.beginCommand(i)
      command.write(batch)
    }
    const fd = this.#open()
    try {
      const message = batch.encode()
      this.#allowSize(fd, message.length)
      this.#calls.send(fd, message)
      this.#readAnswers(fd, batch, commands)
    } finally {
      this.#calls.close(fd)
    }
  }

  chains(): string[] {
    const bodies = this.#dump('list chains', types.getChain)
    return bodies.filter((found) => textOf(found.get(1)) === this.#table).map((found) => textOf(found.get(3)))
  }

  sets(): FoundSet[] {
    return this.#dump('list sets', types.getSet)
      .filter((found) => textOf(found.get(1)) === this.#table && !((found.get(3)?.readUInt32BE() ?? 0) & anonymousSet))
      .map((found) => ({
        name: textOf(found.get(2)),
        timeoutSeconds: Number(found.get(11)?.readBigUInt64BE() ?? 0n) / 1000,
      }))
  }

  hasRules(chain: string): boolean {
    const socket = NetlinkSocket.open(this.#calls, undefined, protocols.netfilter)
    try {
      const request = Buffer.concat([fixedPart(this.#family), text(1, this.#table), text(3, chain)])
      const [found] = socket.get(`read the chain ${chain}`, types.getChain, request)
      // Rules, and references to the chain, which a base chain does not have.
      return (found && decodeAttributes(found, fixedSize).get(6)?.readUInt32BE()) !== 0
    } catch (error) {
      ignoreErrors(error, 'ENOENT')
      return false
    } finally {
      socket.close()
    }
  }

  #open(): number {
    const fd = this.#calls.socket(netlinkFamily, rawSocket | closeOnExec | nonBlocking, protocols.netfilter)
    this.#calls.setSocketOption(fd, optionLevel, capAck, enabled)
    this.#calls.setSocketOption(fd, optionLevel, extendedAck, enabled)
    return fd
  }

  /** A transaction is one message, which the default limits to some 200 KB. */
  #allowSize(fd: number, size: number): void {
    const value = Buffer.alloc(4)
    value.writeInt32LE(size + 64 * 1024)
    this.#calls.setSocketOption(fd, socketLevel, forcedSendBuffer, value)
  }

  /** The kernel has answered when `send` returns. */
  #readAnswers(fd: number, batch: Batch, commands: readonly Command[]): void {
    for (;;) {
      let size: number
      try {
        size = this.#calls.receive(fd, this.#buffer)
      } catch (error) {
        if (error instanceof SystemCallError && error.code === 'EAGAIN') return
        throw error
      }
      for (const { type, sequence, body } of decodeMessages(this.#buffer.subarray(0, size))) {
        if (type !== controlTypes.error) continue
        const errno = -body.readInt32LE(0)
        if (errno === 0) continue
        const command = commands[batch.commandOf(sequence) ?? -1]?.text ?? 'commit'
        const reason = textOf(decodeAttributes(body, 4 + headerOfRequest).get(errorText))
        throw new SystemCallError(
          `nftables table ${this.#family === 4 ? 'ip' : 'ip6'} ${this.#table}: ${command}${reason && `: ${reason}`}`,
          errno,
        )
      }
    }
  }

  #dump(what: string, type: number): ReadonlyMap<number, Buffer>[] {
    const socket = NetlinkSocket.open(this.#calls, undefined, protocols.netfilter)
    try {
      const bodies = socket.dump(what, type, fixedPart(this.#family))
      return bodies.map((body) => decodeAttributes(body, fixedSize))
    } finally {
      socket.close()
    }
  }
}
