/**
 * Splits a stream of a container without a terminal: before each piece of output are 8 bytes, with the number of the
 * stream and the size of the piece.
 */

export interface Frame {
  readonly stream: 'stdout' | 'stderr'
  readonly data: Buffer
}

const headerBytes = 8
/** Engines send pieces of 32 KiB at most. */
const maxFrameBytes = 64 * 1024 * 1024
const stderrNumber = 2
/** The engine reports an error in the stream. */
const errorNumber = 3

export class FrameSplitter {
  #rest: Buffer = Buffer.alloc(0)

  /** Returns the frames that a chunk completes. Throws an Error for an error of the engine, or a faulty stream. */
  add(chunk: Buffer): Frame[] {
    const data = this.#rest.length > 0 ? Buffer.concat([this.#rest, chunk]) : chunk
    const frames: Frame[] = []
    let start = 0
    while (data.length - start >= headerBytes) {
      const number = data[start]!
      const size = data.readUInt32BE(start + 4)
      if (number > errorNumber || size > maxFrameBytes) throw new Error('the stream of the Docker engine is not valid')
      const end = start + headerBytes + size
      if (end > data.length) break
      const content = data.subarray(start + headerBytes, end)
      if (number === errorNumber) throw new Error(`the Docker engine ended the stream: ${content}`)
      frames.push({ stream: number === stderrNumber ? 'stderr' : 'stdout', data: content })
      start = end
    }
    this.#rest = Buffer.from(data.subarray(start))
    return frames
  }
}
