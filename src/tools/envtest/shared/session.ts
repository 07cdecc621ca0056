/** Runs the program of one launcher in the shared process; it ends with the launcher. */
import { Socket } from 'node:net'
import { tuneAfterStart } from '../../../lib/process/memory/tune-after-start.ts'
import { type Running, runEtcd, runKubeApiServer } from '../program.ts'
import { exitCode, startupErrorText } from '../startup-error.ts'
import type { StoreTable } from '../store-table.ts'
import type { LauncherRequest } from './files.ts'

/** Time for active requests at the end, in ms. Short, since suites wait for the end of each program. */
const graceMs = 500
/** Interval of no-op lines, in ms: a shell that gets a signal just before a read handles it after the read. */
const nudgeMs = 1_000

/** Runs the requested program. Resolves when it has ended or failed; never rejects. */
export async function serveLauncher(
  { program, cwd, args, up, down }: LauncherRequest,
  stores: StoreTable,
): Promise<void> {
  const output = new Socket({ fd: down, readable: false, writable: true })
  // The launcher may have been killed.
  output.on('error', () => {})
  output.write('h\n')
  const nudges = setInterval(() => output.write('n\n'), nudgeMs).unref()
  const log = (text: string): void => {
    for (const line of text.split('\n')) output.write(`e${line}\n`)
  }
  const input = new Socket({ fd: up, readable: true, writable: false })
  const { promise: ended, resolve: end } = Promise.withResolvers<'stop' | 'closed'>()
  input.on('data', () => end('stop'))
  input.on('error', () => end('closed'))
  input.on('close', () => end('closed'))
  input.on('end', () => end('closed'))
  let code = 'x0'
  try {
    const run = program === 'etcd' ? runEtcd : runKubeApiServer
    const running: Running = await run(args, { cwd, log, stores })
    // A server usually follows an etcd: loading it now makes the first start faster.
    if (program === 'etcd') void import('../../../cluster/standalone-api-server/index.ts')
    else tuneAfterStart()
    await running.stop((await ended) === 'stop' ? graceMs : 0)
    // As etcd, which ends itself with the signal.
    if (program === 'etcd') code = 'kTERM'
  } catch (error) {
    log(startupErrorText(program, error))
    code = `x${exitCode(program, error)}`
  }
  clearInterval(nudges)
  input.destroy()
  await new Promise<void>((done) => {
    output.on('close', () => done())
    output.end(`${code}\n`)
  })
}
