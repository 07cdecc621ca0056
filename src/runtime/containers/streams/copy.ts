/** Copies streams between clients and containers. */
import { write } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { finished } from 'node:stream/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'

const writeFile = promisify(write)

/** Resolves when the output has ended. If the client leaves, the rest is read and dropped. */
export async function copyOutput(from: Readable, to: Writable | undefined): Promise<void> {
  if (to) {
    from.pipe(to, { end: false })
    const leave = (): void => {
      from.unpipe(to)
      from.resume()
    }
    to.on('close', leave)
    to.on('error', leave)
  } else from.resume()
  // A terminal ends with the error EIO.
  await finished(from, { writable: false }).catch(() => {})
  from.destroy()
}

/** The program in the terminal does not read; in ms. */
const pauseMs = 5

/** Writes a client's input to a terminal until either ends. */
export async function writeToTerminal(stdin: Readable, master: number, ended: Promise<unknown>): Promise<void> {
  let isOver = false
  void ended.finally(() => {
    isOver = true
    stdin.resume()
  })
  for await (const chunk of stdin as AsyncIterable<Buffer>) {
    for (let written = 0; written < chunk.length && !isOver; ) {
      try {
        written += (await writeFile(master, chunk, written)).bytesWritten
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') return
        await delay(pauseMs)
      }
    }
    if (isOver) return
  }
}
