/** The user's terminal, for prompts; also if standard input and output are files or pipes. */
import { openSync } from 'node:fs'
import { emitKeypressEvents, type Key } from 'node:readline'
import { isatty, ReadStream, WriteStream } from 'node:tty'
import { ExplainedError } from '../../lib/explained-error.ts'

/** A key press; printable keys have a text. */
export interface Press {
  readonly name: string
  readonly text: string
  readonly ctrl: boolean
}

export interface Terminal {
  readonly columns: number
  readonly rows: number
  write(text: string): void
  /**
   * Calls `pressed` with each key until it returns `done`. Rejects if the terminal is closed. Typed keys are not shown.
   */
  keys(pressed: (press: Press) => 'done' | 'more'): Promise<void>
  /** Releases the terminal; a pending `keys` rejects. */
  close(): void
}

const device = '/dev/tty'

/** Returns undefined if there is no terminal. */
export function openTerminal(): Terminal | undefined {
  try {
    const own = isatty(0) && isatty(2)
    // Opened separately, so that standard input is not consumed.
    const input = own ? process.stdin : new ReadStream(openSync(device, 'r+'))
    const output = own ? process.stderr : new WriteStream(openSync(device, 'w'))
    return terminalOn(input as ReadStream, output as WriteStream, own)
  } catch {
    return undefined
  }
}

function terminalOn(input: ReadStream, output: WriteStream, own: boolean): Terminal {
  emitKeypressEvents(input)
  let stopWaiting = (): void => {}
  return {
    get columns() {
      return output.columns || 80
    },
    get rows() {
      return output.rows || 24
    },
    write: (text) => void output.write(text),
    async keys(pressed) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const onKey = (text: string | undefined, key: Key): void => {
        if (
          pressed({ name: key.name ?? '', text: key.ctrl || key.meta ? '' : (text ?? ''), ctrl: key.ctrl ?? false }) ===
          'done'
        )
          resolve()
      }
      const onClosed = (): void => reject(new ExplainedError('the terminal was closed: nothing was changed'))
      stopWaiting = () => {
        // Later output starts on a new line.
        output.write('\n')
        onClosed()
      }
      input.on('keypress', onKey).once('end', onClosed).once('error', onClosed)
      input.setRawMode(true)
      input.resume()
      try {
        await promise
      } finally {
        input.off('keypress', onKey).off('end', onClosed).off('error', onClosed)
        stopWaiting = () => {}
        input.setRawMode(false)
        input.pause()
      }
    },
    close() {
      stopWaiting()
      if (own) return
      input.destroy()
      output.destroy()
    },
  }
}
