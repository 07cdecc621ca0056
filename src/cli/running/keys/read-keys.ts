/**
 * The keys of `t8s up` on a terminal. The terminal is in raw mode, so that a key needs no Enter; Ctrl-C, Ctrl-Z and
 * Ctrl-\ work as without. Nothing happens in the background (`t8s up &`), where a change of the mode stops a process.
 */
import { isInForeground } from './foreground-group.ts'

/** The part of standard input that is needed. */
export interface KeyInput {
  readonly isTTY?: boolean
  setRawMode(isRaw: boolean): unknown
  on(event: 'data', listener: (bytes: Buffer) => void): unknown
  on(event: 'end' | 'error', listener: () => void): unknown
  off(event: 'data', listener: (bytes: Buffer) => void): unknown
  resume(): unknown
  pause(): unknown
}

/** The process that keys and signals belong to. */
export interface KeyProcess {
  on(event: 'SIGCONT' | 'exit', listener: () => void): unknown
  off(event: 'SIGCONT' | 'exit', listener: () => void): unknown
  /** Sends a signal to this process, or, as a terminal does, to its group. */
  signal(name: 'SIGINT' | 'SIGTSTP' | 'SIGQUIT', target: 'process' | 'group'): void
  isInForeground(): boolean
}

const thisProcess: KeyProcess = {
  on: (event, listener) => process.on(event, listener),
  off: (event, listener) => process.off(event, listener),
  signal: (name, target) => void process.kill(target === 'group' ? 0 : process.pid, name),
  isInForeground,
}

export interface KeyOptions {
  readonly input: KeyInput
  /** The actions of keys; others are ignored. */
  readonly actions: ReadonlyMap<string, () => void>
  /** Called when it begins to read: at the start, and each time that the process returns to the foreground. */
  readonly onBegin: () => void
  readonly process?: KeyProcess
}

const signalKeys: ReadonlyMap<string, 'SIGINT' | 'SIGTSTP' | 'SIGQUIT'> = new Map([
  ['\x03', 'SIGINT'],
  ['\x1a', 'SIGTSTP'],
  ['\x1c', 'SIGQUIT'],
])

/** Begins to read keys. The returned function restores the terminal; so do the end of the process and Ctrl-Z. */
export function readKeys({ input, actions, onBegin, process: own = thisProcess }: KeyOptions): () => void {
  let isReading = false
  const begin = (): void => {
    if (isReading || !input.isTTY || !own.isInForeground()) return
    isReading = true
    input.setRawMode(true)
    input.resume()
    onBegin()
  }
  const release = (): void => {
    if (!isReading) return
    isReading = false
    input.setRawMode(false)
    input.pause()
  }
  const press = (key: string): void => {
    const signal = signalKeys.get(key)
    // A program that is stopped or aborted does not restore the terminal itself.
    if (signal === 'SIGTSTP' || signal === 'SIGQUIT') release()
    if (signal) own.signal(signal, 'group')
    else actions.get(key)?.()
  }
  const onData = (bytes: Buffer): void => {
    const text = bytes.toString('latin1')
    // Arrows and function keys.
    if (text.startsWith('\x1b')) return
    for (const key of text) press(key)
  }
  const end = (): void => {
    release()
    input.off('data', onData)
    own.off('SIGCONT', begin)
    own.off('exit', release)
  }
  input.on('data', onData)
  input.on('end', end)
  input.on('error', end)
  // `data` listeners start to read, in the background, too.
  input.pause()
  own.on('SIGCONT', begin)
  own.on('exit', release)
  begin()
  return end
}
