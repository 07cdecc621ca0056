/** The terminal of whoever runs a command, for questions: also where input and output are files or pipes. */
import { openSync } from 'node:fs'
import { emitKeypressEvents, type Key } from 'node:readline'
import { isatty, ReadStream, WriteStream } from 'node:tty'
import { ExplainedError } from '../../lib/explained-error.ts'

/** A key that was pressed; letters have their text. */
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
   * Calls back with each key until it says `done`. Rejects when the terminal goes away. Nothing that is typed is shown.
   */
  keys(pressed: (press: Press) => 'done' | 'more'): Promise<void>
  /** Lets go of it; who waits for a key is told so. */
  close(): void
}

const device = '/dev/tty'

/** Undefined where nobody is at a terminal. */
export function openTerminal(): Terminal | undefined {
  try {
    const own = isatty(0) && isatty(2)
    // Opened anew, so that what is read here leaves standard input alone.
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
      const gone = (): void => reject(new ExplainedError('the terminal went away: nothing was changed'))
      stopWaiting = () => {
        // What is said next begins on a line of its own.
        output.write('\n')
        gone()
      }
      input.on('keypress', onKey).once('end', gone).once('error', gone)
      input.setRawMode(true)
      input.resume()
      try {
        await promise
      } finally {
        input.off('keypress', onKey).off('end', gone).off('error', gone)
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
