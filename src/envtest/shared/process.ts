/**
 * The process that the launchers of one user share: it runs their programs, each on its own, and ends a while after the
 * last.
 */
import { closeSync, constants, existsSync, openSync, rmSync, writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { errorCode } from '../../lib/explained-error.ts'
import { writeFileAtomically } from '../../lib/files/atomic-file.ts'
import { surviveErrors } from '../../lib/process/unhandled-errors.ts'
import { acquire } from '../../storage/log/owner.ts'
import { StoreOpenError } from '../../storage/store.ts'
import { StoreTable } from '../store-table.ts'
import { bellPath, serverPath, startingPath, takeRequests } from './files.ts'
import { serveLauncher } from './session.ts'

export interface SharedProcessOptions {
  /** The directory that launchers and this process meet in. */
  readonly directory: string
  /** How long it waits for another launcher after the last has ended, in ms. */
  readonly idleMs: number
  readonly log: (line: string) => void
}

/** Serves launchers until none has come for a while. Resolves at once if another process does so already. */
export async function runSharedProcess({ directory, idleMs, log }: SharedProcessOptions): Promise<void> {
  const owner = own(directory)
  if (!owner) {
    ring(directory)
    return
  }
  const bell = openBell(directory)
  const stores = new StoreTable()
  const { promise: over, resolve: finish } = Promise.withResolvers<void>()
  let running = 0
  let idle: NodeJS.Timeout | undefined

  const publish = (): void => writeFileAtomically(serverPath(directory), `${process.pid} ${bell}\n`, 0o600)
  const look = (): void => {
    for (const request of takeRequests(directory)) {
      running++
      clearTimeout(idle)
      void serveLauncher(request, stores).then(() => {
        running--
        rest()
      })
    }
  }
  const rest = (): void => {
    clearTimeout(idle)
    if (running === 0) idle = setTimeout(leave, idleMs)
  }
  const leave = (): void => {
    // Who lays down a request from now on starts another process; who has done so before is served here.
    rmSync(serverPath(directory), { force: true })
    // Nobody meets in a directory that has been removed.
    if (existsSync(directory)) look()
    if (running > 0) publish()
    else finish()
  }

  // One cluster's fault is not the others' end.
  surviveErrors(log)
  // A terminal's signals are for the launchers.
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})

  new Socket({ fd: bell, readable: true, writable: false }).on('data', look)
  publish()
  // Whoever comes from now on finds this process; the requests of those who have waited for it lie there.
  rmSync(startingPath(directory), { force: true })
  rest()
  look()
  await over
  owner.release()
}

/** Undefined if another process serves the directory. */
function own(directory: string): ReturnType<typeof acquire> | undefined {
  try {
    return acquire(directory)
  } catch (error) {
    if (error instanceof StoreOpenError) return undefined
    throw error
  }
}

function openBell(directory: string): number {
  // Launchers make it, for Node makes no named pipes. Open for writing as well, so that the last of them to let go does
  // not end it.
  return openSync(bellPath(directory), constants.O_RDWR | constants.O_NONBLOCK)
}

/** Tells the process that serves already to look. If it is not that far yet, it looks when it is. */
function ring(directory: string): void {
  try {
    const bell = openSync(bellPath(directory), constants.O_WRONLY | constants.O_NONBLOCK)
    writeSync(bell, '\n')
    closeSync(bell)
  } catch (error) {
    if (errorCode(error) !== 'ENXIO' && errorCode(error) !== 'ENOENT') throw error
  }
}
