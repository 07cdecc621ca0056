/**
 * The body of one request while it comes in. It counts against the server's budget until the request is answered: what
 * was made of it lives as long. Pieces are copied together as they come: a piece of a few bytes may be a view of a
 * network buffer of 64 KiB and would keep all of it.
 */
import type { Readable } from 'node:stream'
import { badRequest, requestEntityTooLarge, type StatusError, tooManyRequests } from '../../machinery/status-error.ts'
import type { BodyBudget } from './bounds/body-budget.ts'

/** Nobody will read it, and it is no error of ours. */
const clientGone = () => badRequest('unexpected EOF')

const tooLarge = (limit: number) => requestEntityTooLarge(`Request entity too large: limit is ${limit}`)

/** Buffers of bodies that come in many pieces begin with this and are doubled. */
const growBytes = 16 * 1024
/**
 * From here on they have pages of their own, which go back to the system when they are let go; malloc would keep them.
 */
const ownPagesBytes = 256 * 1024

export class IncomingBody {
  readonly #source: Readable
  readonly #budget: BodyBudget
  /** As Content-Length says; undefined if it does not. */
  readonly #declared: number | undefined
  /** A body that came in one piece. */
  #whole: Buffer | undefined
  /** What has come of another one, and room for more. */
  #gathered: ArrayBuffer | undefined
  #size = 0
  /** What the budget counts. */
  #held = 0
  /** Who waits for all of it. */
  #reader: Pick<PromiseWithResolvers<Buffer>, 'resolve' | 'reject'> | undefined

  constructor(source: Readable, budget: BodyBudget, declared: string | undefined) {
    this.#source = source
    this.#budget = budget
    this.#declared = declared === undefined ? undefined : Number(declared)
  }

  /** Whether it is being read. */
  get wanted(): boolean {
    return this.#reader !== undefined
  }

  /** Throws 413 above `limit` bytes, at once if that many are announced, and 429 when too much is under way. */
  read(limit: number): Promise<Buffer> {
    if (this.#declared !== undefined && this.#declared > limit) return Promise.reject(tooLarge(limit))
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
    this.#reader = { resolve, reject }
    const gone = (): void => this.#fail(clientGone())
    // The listeners know no more than this body: closed streams stay for a while, with theirs (docs/decisions/0049).
    this.#source
      .on('data', (chunk: Buffer) => this.#come(chunk, limit))
      .on('end', () => this.#end())
      .on('aborted', gone)
      .on('error', gone)
    return promise
  }

  /** The request is answered: what has come is forgotten, what still comes is not kept. */
  release(): void {
    if (this.#reader) this.#fail(clientGone())
    this.#budget.give(this.#held)
    this.#held = 0
    this.#whole = undefined
    this.#gathered = undefined
  }

  #come(chunk: Buffer, limit: number): void {
    if (!this.#reader) return
    if (this.#size + chunk.length > limit) this.#fail(tooLarge(limit))
    else if (!this.#take(chunk, limit))
      this.#fail(tooManyRequests('too many request bodies are under way, please try again later', 1))
  }

  #end(): void {
    const reader = this.#reader
    this.#reader = undefined
    reader?.resolve(this.#whole ?? (this.#gathered ? Buffer.from(this.#gathered, 0, this.#size) : Buffer.alloc(0)))
  }

  #fail(error: StatusError): void {
    const reader = this.#reader
    if (!reader) return
    this.#reader = undefined
    this.#source.pause()
    // Nobody has seen it: to wait for the garbage collector would be to hold the memory of an attack for minutes.
    this.#gathered?.transferToFixedLength(0)
    this.release()
    reader.reject(error)
  }

  /** False if there is no room. */
  #take(chunk: Buffer, limit: number): boolean {
    const first = this.#size === 0
    const size = this.#size + chunk.length
    if (first && size === this.#declared) {
      if (!this.#hold(size)) return false
      this.#whole = chunk
    } else {
      if (size > this.#held && !this.#hold(this.#capacity(size, limit))) return false
      this.#gathered = grown(this.#gathered, this.#held, limit)
      new Uint8Array(this.#gathered).set(chunk, this.#size)
    }
    this.#size = size
    return true
  }

  #hold(bytes: number): boolean {
    const more = bytes - this.#held
    if (!this.#budget.take(this.#held, more)) return false
    this.#held = bytes
    return true
  }

  /**
   * Room for `size` bytes: as much as there is for the first piece, then twice as much each time, never more than may
   * come.
   */
  #capacity(size: number, limit: number): number {
    const roomy = this.#size === 0 ? size : Math.max(growBytes, size, 2 * this.#held)
    return Math.max(size, Math.min(roomy, this.#declared ?? limit))
  }
}

/** The same bytes, with room for `bytes`. */
function grown(buffer: ArrayBuffer | undefined, bytes: number, limit: number): ArrayBuffer {
  if (buffer?.resizable) {
    if (buffer.byteLength < bytes) buffer.resize(bytes)
    return buffer
  }
  if (buffer && buffer.byteLength >= bytes) return buffer
  if (bytes < ownPagesBytes) return buffer ? buffer.transfer(bytes) : new ArrayBuffer(bytes)
  // Room that is resizable is only reserved.
  const pages = new ArrayBuffer(bytes, { maxByteLength: Math.max(bytes, limit) })
  if (buffer) {
    new Uint8Array(pages).set(new Uint8Array(buffer))
    buffer.transfer(0)
  }
  return pages
}
