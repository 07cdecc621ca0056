/** One launcher as the shared process sees it: it wants a program run, and its end is the program's end. */
import { Socket } from 'node:net'
import { hasBegun } from '../../lib/process/has-begun.ts'
import { complaint, exitCode } from '../complaint.ts'
import { type Running, runEtcd, runKubeApiServer } from '../program.ts'
import type { StoreTable } from '../store-table.ts'
import type { LauncherRequest } from './files.ts'

/** Suites wait for the end of each program: requests under way get no longer than this, in ms. */
const graceMs = 500
/**
 * A shell that is told to end just before it begins to read does so when it has read: it gets something to read this
 * often, ms.
 */
const nudgeMs = 1_000

/** Runs what a launcher asks for. Resolves when that has ended, well or not; never rejects. */
export async function serveLauncher(
  { program, cwd, args, up, down }: LauncherRequest,
  stores: StoreTable,
): Promise<void> {
  const output = new Socket({ fd: down, readable: false, writable: true })
  // A launcher that was killed reads no more.
  output.on('error', () => {})
  output.write('h\n')
  const nudges = setInterval(() => output.write('n\n'), nudgeMs).unref()
  const log = (text: string): void => {
    for (const line of text.split('\n')) output.write(`e${line}\n`)
  }
  const orders = new Socket({ fd: up, readable: true, writable: false })
  const { promise: ended, resolve: end } = Promise.withResolvers<'asked' | 'gone'>()
  orders.on('data', () => end('asked'))
  orders.on('error', () => end('gone'))
  orders.on('close', () => end('gone'))
  orders.on('end', () => end('gone'))
  let code = 'x0'
  try {
    const run = program === 'etcd' ? runEtcd : runKubeApiServer
    const running: Running = await run(args, { cwd, log, stores })
    // Who has started an etcd is about to start a server: loading it now makes the first one faster.
    if (program === 'etcd') void import('../../cluster/standalone-api-server/index.ts')
    else hasBegun()
    await running.stop((await ended) === 'asked' ? graceMs : 0)
    // As etcd itself, which hands the signal on.
    if (program === 'etcd') code = 'kTERM'
  } catch (error) {
    log(complaint(program, error))
    code = `x${exitCode(program, error)}`
  }
  clearInterval(nudges)
  orders.destroy()
  await new Promise<void>((done) => {
    output.on('close', () => done())
    output.end(`${code}\n`)
  })
}
