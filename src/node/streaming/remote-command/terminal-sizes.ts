/** The sizes of a client's terminal, from a stream of JSON objects: `{"Width":80,"Height":24}`. */
import type { Readable } from 'node:stream'
import type { TerminalSize } from './remote-command.ts'

/** The maximum length of an object, in characters. */
const maxLength = 1024

/** Reads sizes as they arrive, so that they never hold up the connection, and stores the last one. */
export class TerminalSizes {
  #latest: TerminalSize | undefined
  #callback: ((size: TerminalSize) => void) | undefined

  /** Reads a stream until it ends. Ignores what is not a size. */
  read(stream: Readable): void {
    let text = ''
    stream.on('data', (chunk: Buffer) => {
      const objects = (text + chunk.toString()).split('}')
      text = (objects.pop() ?? '').slice(-maxLength)
      for (const object of objects) this.#resize(parseSize(object))
    })
  }

  /** Calls back with the current size, if the client has sent one, and with each later one. */
  onResize(callback: (size: TerminalSize) => void): void {
    this.#callback = callback
    if (this.#latest) callback(this.#latest)
  }

  #resize(size: TerminalSize | undefined): void {
    if (!size) return
    this.#latest = size
    this.#callback?.(size)
  }
}

function parseSize(object: string): TerminalSize | undefined {
  const [, width] = /"Width"\s*:\s*(\d+)/i.exec(object) ?? []
  const [, height] = /"Height"\s*:\s*(\d+)/i.exec(object) ?? []
  return width && height ? { width: Number(width), height: Number(height) } : undefined
}
