/** The process that the launchers of a user share: runs their programs independently, and ends when it is idle. */
import { closeSync, constants, existsSync, openSync, rmSync, writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { errorCode } from '../../../lib/explained-error.ts'
import { writeFileAtomically } from '../../../lib/files/atomic-file.ts'
import { surviveErrors } from '../../../lib/process/unhandled-errors.ts'
import { acquire } from '../../../storage/log/owner.ts'
import { StoreOpenError } from '../../../storage/store.ts'
import { StoreTable } from '../store-table.ts'
import { requestsPath, serverPath, startingPath, takeRequests } from './files.ts'
import { serveLauncher } from './session.ts'

export interface SharedProcessOptions {
  /** The directory with the pipes. */
  readonly directory: string
  /** Idle time before it ends, in ms. */
  readonly idleMs: number
  readonly log: (line: string) => void
}

/** Serves launchers until it is idle. Resolves immediately if another process serves them. */
export async function runSharedProcess({ directory, idleMs, log }: SharedProcessOptions): Promise<void> {
  const owner = own(directory)
  if (!owner) {
    notifyServing(directory)
    return
  }
  const requests = openRequests(directory)
  const stores = new StoreTable()
  const { promise: finished, resolve: finish } = Promise.withResolvers<void>()
  let running = 0
  let idle: NodeJS.Timeout | undefined

  const publish = (): void => writeFileAtomically(serverPath(directory), `${process.pid} ${requests}\n`, 0o600)
  const serveRequests = (): void => {
    for (const request of takeRequests(directory)) {
      running++
      clearTimeout(idle)
      void serveLauncher(request, stores).then(() => {
        running--
        startIdleTimer()
      })
    }
  }
  const startIdleTimer = (): void => {
    clearTimeout(idle)
    if (running === 0) idle = setTimeout(endIfIdle, idleMs)
  }
  const endIfIdle = (): void => {
    // New requests start another process; earlier ones are served here.
    rmSync(serverPath(directory), { force: true })
    // The directory may have been deleted.
    if (existsSync(directory)) serveRequests()
    if (running > 0) publish()
    else finish()
  }

  // An error in one cluster must not end the others.
  surviveErrors(log)
  // Signals of the terminal are for the launchers.
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => {})

  new Socket({ fd: requests, readable: true, writable: false }).on('data', serveRequests)
  publish()
  // New launchers now find this process; requests of waiting launchers are in the directory.
  rmSync(startingPath(directory), { force: true })
  startIdleTimer()
  serveRequests()
  await finished
  owner.release()
}

/** Acquires the directory; returns undefined if another process serves it. */
function own(directory: string): ReturnType<typeof acquire> | undefined {
  try {
    return acquire(directory)
  } catch (error) {
    if (error instanceof StoreOpenError) return undefined
    throw error
  }
}

function openRequests(directory: string): number {
  // Launchers create it, since Node cannot create named pipes. Also opened for writing, so that it does not end when
  // the last launcher closes it.
  return openSync(requestsPath(directory), constants.O_RDWR | constants.O_NONBLOCK)
}

/** Notifies the serving process; one that is starting reads the requests when it is ready. */
function notifyServing(directory: string): void {
  try {
    const requests = openSync(requestsPath(directory), constants.O_WRONLY | constants.O_NONBLOCK)
    writeSync(requests, '\n')
    closeSync(requests)
  } catch (error) {
    if (errorCode(error) !== 'ENXIO' && errorCode(error) !== 'ENOENT') throw error
  }
}
