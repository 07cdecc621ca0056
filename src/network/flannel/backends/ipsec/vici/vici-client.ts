/** A connection to strongSwan's control socket. One command runs at a time (src/libcharon/plugins/vici/README.md). */
import { connect, type Socket } from 'node:net'
import { messageOf } from '../../../../../lib/message-of.ts'
import { decodeSection, encodeName, encodeSection, type ViciSection } from './vici-message.ts'

const packets = {
  ...{ request: 0, response: 1, unknownCommand: 2, register: 3, unregister: 4, confirm: 5, unknownEvent: 6 },
  event: 7,
} as const
/** In ms. */
const answerTimeout = 10_000
const lengthSize = 4
/** The largest packet of the protocol, in bytes. */
const maxPacketSize = 512 * 1024

interface Packet {
  readonly type: number
  readonly rest: Buffer
}

export class ViciClient {
  readonly #socket: Socket
  readonly #packets: AsyncGenerator<Buffer, void>

  private constructor(socket: Socket) {
    this.#socket = socket
    this.#packets = packetsOf(socket)
  }

  /** Rejects with a sentence if no daemon listens at the file. */
  static async connect(file: string): Promise<ViciClient> {
    const socket = connect(file).setTimeout(answerTimeout)
    socket.once('timeout', () => socket.destroy(new Error(`it does not answer within ${answerTimeout / 1000} s`)))
    try {
      await new Promise<void>((resolve, reject) => socket.once('connect', resolve).once('error', reject))
    } catch (error) {
      throw new Error(`charon is not reached at ${file}: ${messageOf(error)}`, { cause: error })
    }
    // Later errors are those of a call.
    socket.on('error', () => {})
    return new ViciClient(socket)
  }

  /** Resolves with the answer. Rejects with the daemon's reason if it rejects the command. */
  async request(command: string, message: ViciSection = {}): Promise<ViciSection> {
    return this.#request(command, message, () => {})
  }

  /** Resolves with the messages of an event that the command causes. */
  async stream(command: string, event: string, message: ViciSection = {}): Promise<ViciSection[]> {
    await this.#register(packets.register, event)
    const found: ViciSection[] = []
    await this.#request(command, message, (section) => found.push(section))
    await this.#register(packets.unregister, event)
    return found
  }

  close(): void {
    this.#socket.destroy()
  }

  async #request(command: string, message: ViciSection, onEvent: (section: ViciSection) => void): Promise<ViciSection> {
    this.#send(packets.request, command, encodeSection(message))
    for (;;) {
      const { type, rest } = await this.#receive(command)
      if (type === packets.event) onEvent(decodeSection(rest.subarray(1 + (rest[0] ?? 0))))
      else if (type === packets.response) return accepted(command, decodeSection(rest))
      else if (type === packets.unknownCommand)
        throw new Error(`charon does not know the command ${command}: install a later version of strongSwan`)
      else throw new Error(`charon answers ${command} with a packet of the unknown type ${type}`)
    }
  }

  async #register(type: number, event: string): Promise<void> {
    this.#send(type, event, Buffer.alloc(0))
    for (;;) {
      const answer = await this.#receive(event)
      if (answer.type === packets.confirm) return
      // Events of a registration that ends.
      if (answer.type !== packets.event)
        throw new Error(`charon does not know the event ${event}: install a later version of strongSwan`)
    }
  }

  #send(type: number, name: string, message: Buffer): void {
    const packet = Buffer.concat([Buffer.from([type]), encodeName(name), message])
    const length = Buffer.alloc(lengthSize)
    length.writeUInt32BE(packet.length)
    this.#socket.write(Buffer.concat([length, packet]))
  }

  async #receive(what: string): Promise<Packet> {
    try {
      const { value } = await this.#packets.next()
      if (value) return { type: value[0] ?? 0, rest: value.subarray(1) }
    } catch (error) {
      throw new Error(`charon has not answered ${what}: ${messageOf(error)}`, { cause: error })
    }
    throw new Error(`charon has not answered ${what}: it closed the connection`)
  }
}

/** Without the message itself, which may have secrets. */
function accepted(command: string, answer: ViciSection): ViciSection {
  const { success, errmsg } = answer
  if (success === undefined || success === 'yes') return answer
  throw new Error(`charon rejects ${command}: ${typeof errmsg === 'string' ? errmsg : 'it gives no reason'}`)
}

/** The packets of a stream of bytes. */
async function* packetsOf(socket: Socket): AsyncGenerator<Buffer, void> {
  let waiting = Buffer.alloc(0)
  for await (const piece of socket) {
    waiting = Buffer.concat([waiting, Buffer.from(piece)])
    while (waiting.length >= lengthSize) {
      const size = waiting.readUInt32BE(0)
      if (size > maxPacketSize) throw new Error(`a packet of ${size} bytes is larger than the protocol allows`)
      if (waiting.length < lengthSize + size) break
      yield waiting.subarray(lengthSize, lengthSize + size)
      waiting = waiting.subarray(lengthSize + size)
    }
  }
}
