/** The sources of a container's output: a FIFO, or the master of a terminal. */
import { closeSync, type FSWatcher, watch } from 'node:fs'
import { ReadStream } from 'node:tty'
import type { Spool } from './spool.ts'

export interface OutputSource {
  /** Moves available output to the spool. Returns the bytes, or 0. */
  fill(): number
  /** Stops to read until `resume`. */
  pause(): void
  resume(): void
  close(): void
}

/** The functions that a source calls. */
export interface SourceEvents {
  /** There may be output for `fill`, or in the spool. */
  readonly onReady: () => void
  readonly onEnd: () => void
}

/**
 * A writer of more bytes than the FIFO holds causes a notification only at its end: the source looks often for some
 * time after output, and seldom else. In ms.
 */
const [pollMs, idlePollMs, activeMs] = [250, 1_000, 5_000]

/**
 * Output through a FIFO. Node cannot wait for a file without reading it, and what is in the memory of this process is
 * lost if it is killed: the source waits for the notification of a change instead. `file` is the FIFO at `path`,
 * opened without waiting.
 */
export function fifoSource(path: string, file: number, spool: Spool, { onReady }: SourceEvents): OutputSource {
  const watcher: FSWatcher = watch(path, { persistent: false }, onReady)
  watcher.on('error', () => {})
  let lastOutput = performance.now()
  let timer: NodeJS.Timeout
  const poll = (): void => {
    const isActive = performance.now() - lastOutput < activeMs
    timer = setTimeout(poll, isActive ? pollMs : idlePollMs).unref()
    onReady()
  }
  timer = setTimeout(poll, pollMs).unref()
  return {
    fill() {
      const bytes = spool.fill(file)
      if (bytes > 0) lastOutput = performance.now()
      return bytes
    },
    pause() {},
    resume() {},
    close() {
      clearTimeout(timer)
      watcher.close()
      closeSync(file)
    },
  }
}

/** Output of a terminal, which ends by itself. Closes `file` at the end. */
export function terminalSource(file: number, spool: Spool, { onReady, onEnd }: SourceEvents): OutputSource {
  const stream = new ReadStream(file)
  stream.on('data', (data) => {
    spool.write(data)
    onReady()
  })
  // It ends with the error EIO.
  stream.on('error', onEnd)
  stream.on('end', onEnd)
  return {
    fill: () => 0,
    pause: () => void stream.pause(),
    resume: () => void stream.resume(),
    close: () => void stream.destroy(),
  }
}
