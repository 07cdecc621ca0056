/**
 * The body of one request while it is received. It counts against the server's budget until the request is answered, as
 * the decoded object lives as long. Pieces are copied into one buffer as they arrive: a piece of a few bytes may be a
 * view of a network buffer of 64 KiB and would retain all of it.
 */
import type { Readable } from 'node:stream'
import { badRequest, requestEntityTooLarge, type StatusError, tooManyRequests } from '../../machinery/status-error.ts'
import type { BodyBudget } from './bounds/body-budget.ts'

/** Not a server error; nobody will read it. */
const unexpectedEof = () => badRequest('unexpected EOF')

const tooLarge = (limit: number) => requestEntityTooLarge(`Request entity too large: limit is ${limit}`)

/** The initial size of buffers for bodies in many pieces; it is doubled as needed. */
const growBytes = 16 * 1024
/**
 * From this size on buffers have their own pages, which are returned to the system when freed; malloc would retain
 * them.
 */
const ownPagesBytes = 256 * 1024

export class IncomingBody {
  readonly #source: Readable
  readonly #budget: BodyBudget
  /** The Content-Length; undefined if there is none. */
  readonly #declared: number | undefined
  /** A body that arrived in one piece. */
  #whole: Buffer | undefined
  /** The pieces of another one so far, with space for more. */
  #gathered: ArrayBuffer | undefined
  #size = 0
  #isComplete = false
  /** Bytes reserved in the budget. */
  #held = 0
  /** The promise of the caller of `read`. */
  #reader: Pick<PromiseWithResolvers<Buffer>, 'resolve' | 'reject'> | undefined

  constructor(source: Readable, budget: BodyBudget, declared: string | undefined) {
    this.#source = source
    this.#budget = budget
    this.#declared = declared === undefined ? undefined : Number(declared)
  }

  /** Its bytes, once all of them have arrived; undefined until then. */
  get size(): number | undefined {
    return this.#isComplete ? this.#size : undefined
  }

  /** True while it is being read. */
  get isBeingRead(): boolean {
    return this.#reader !== undefined
  }

  /**
   * Throws 413 above `limit` bytes, immediately if that many are declared, and 429 if too many bodies are in progress.
   */
  read(limit: number): Promise<Buffer> {
    if (this.#declared !== undefined && this.#declared > limit) return Promise.reject(tooLarge(limit))
    const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
    this.#reader = { resolve, reject }
    const gone = (): void => this.#fail(unexpectedEof())
    // The listeners refer to nothing but this body: closed streams live on for a while, with their listeners
    // (docs/decisions/0049).
    this.#source
      .on('data', (chunk: Buffer) => this.#receive(chunk, limit))
      .on('end', () => this.#end())
      .on('aborted', gone)
      .on('error', gone)
    return promise
  }

  /** Called when the request is answered: drops the body received so far and ignores the rest. */
  release(): void {
    if (this.#reader) this.#fail(unexpectedEof())
    this.#budget.release(this.#held)
    this.#held = 0
    this.#whole = undefined
    this.#gathered = undefined
  }

  #receive(chunk: Buffer, limit: number): void {
    if (!this.#reader) return
    if (this.#size + chunk.length > limit) this.#fail(tooLarge(limit))
    else if (!this.#take(chunk, limit))
      this.#fail(tooManyRequests('too many request bodies are under way, please try again later', 1))
  }

  #end(): void {
    const reader = this.#reader
    if (!reader) return
    this.#reader = undefined
    this.#isComplete = true
    reader.resolve(this.#whole ?? (this.#gathered ? Buffer.from(this.#gathered, 0, this.#size) : Buffer.alloc(0)))
  }

  #fail(error: StatusError): void {
    const reader = this.#reader
    if (!reader) return
    this.#reader = undefined
    this.#source.pause()
    // Nobody has read it: waiting for the garbage collector would hold the memory of an attack for minutes.
    this.#gathered?.transferToFixedLength(0)
    this.release()
    reader.reject(error)
  }

  /** Adds a chunk; returns false if the budget does not allow it. */
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
    if (!this.#budget.reserve(this.#held, more)) return false
    this.#held = bytes
    return true
  }

  /**
   * The capacity for `size` bytes: exactly that for the first piece, then twice as much each time, at most what may
   * arrive.
   */
  #capacity(size: number, limit: number): number {
    const wanted = this.#size === 0 ? size : Math.max(growBytes, size, 2 * this.#held)
    return Math.max(size, Math.min(wanted, this.#declared ?? limit))
  }
}

/** The same bytes, with a capacity of `bytes`. */
function grown(buffer: ArrayBuffer | undefined, bytes: number, limit: number): ArrayBuffer {
  if (buffer?.resizable) {
    if (buffer.byteLength < bytes) buffer.resize(bytes)
    return buffer
  }
  if (buffer && buffer.byteLength >= bytes) return buffer
  if (bytes < ownPagesBytes) return buffer ? buffer.transfer(bytes) : new ArrayBuffer(bytes)
  // The maximum of a resizable buffer is only reserved address space.
  const pages = new ArrayBuffer(bytes, { maxByteLength: Math.max(bytes, limit) })
  if (buffer) {
    new Uint8Array(pages).set(new Uint8Array(buffer))
    buffer.transfer(0)
  }
  return pages
}
