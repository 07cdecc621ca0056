/**
 * runc copies between the runtime's terminal and one of its own in the container. It copies the size as well, when it
 * gets SIGWINCH, once it has a handler for it.
 */
import { closeSync, readdirSync, readlinkSync } from 'node:fs'
import { constants } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import type { ProcessRecord } from '../state/records.ts'
import { loadLibc, type TerminalSize } from './libc.ts'
import { handlesSignal, isRunning, signalProcess } from './processes.ts'

const pauseMs = 20
const maxPauses = 500

/**
 * Changes the size of the terminal in the container, once the executor has set the first size. Resolves without a
 * change if the executor has ended.
 */
export async function announceSize(executor: ProcessRecord, size: TerminalSize): Promise<void> {
  for (let pause = 0; pause < maxPauses && isRunning(executor); pause++) {
    // It prepares for signals last.
    if (handlesSignal(executor.pid, constants.signals.SIGWINCH)) {
      await resizeTerminalsOf(executor, size)
      return signalProcess(executor, 'SIGWINCH')
    }
    await delay(pauseMs, undefined, { ref: false })
  }
}

async function resizeTerminalsOf({ pid }: ProcessRecord, size: TerminalSize): Promise<void> {
  const libc = loadLibc()
  for (const file of terminalsOf(pid)) {
    const terminal = libc.takeFile(pid, file)
    try {
      libc.resizeTerminal(terminal, size)
    } finally {
      closeSync(terminal)
    }
  }
}

/** The numbers of the masters of terminals that a process has open. */
function terminalsOf(pid: number): number[] {
  const folder = `/proc/${pid}/fd`
  try {
    return readdirSync(folder)
      .filter((file) => readlinkSync(`${folder}/${file}`).endsWith('/ptmx'))
      .map(Number)
  } catch {
    // The process has ended, or has closed a file meanwhile.
    return []
  }
}
