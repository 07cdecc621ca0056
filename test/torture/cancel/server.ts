/** The server of a cancel storm: `./t8s up` as a child process, with its output and its metrics. */
import { spawn } from 'node:child_process'
import { appendFileSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const launcher = join(import.meta.dirname, '../../../t8s')

export interface StormServer {
  readonly url: string
  /** Returns all its output. */
  printed(): string
  /** Undefined while it runs. */
  ended(): string | undefined
  /** Number of open files and sockets. */
  descriptors(): number
  /** Resident memory in MB. */
  residentMb(): number
  stop(): Promise<void>
}

/**
 * Starts the server; rejects with its output if it exits before it is ready. The output is also written to the folder.
 */
export async function startStormServer(folder: string, flags: readonly string[]): Promise<StormServer> {
  const args = ['up', '--data-dir', join(folder, 'data'), '--secure-port', '0', '--nodes=1', ...flags]
  const child = spawn(launcher, args, {
    env: { ...process.env, CI: 'true', NODE_OPTIONS: '--trace-warnings' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const orphaned = (): unknown => child.kill('SIGKILL')
  process.once('exit', orphaned)
  let printed = ''
  let ended: string | undefined
  const { promise: serving, resolve, reject } = Promise.withResolvers<string>()
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      printed += text
      appendFileSync(join(folder, 'server.log'), text)
      const url = /^serving on (\S+)$/m.exec(printed)?.[1]
      if (url && /^Ctrl-C stops it$/m.test(printed)) resolve(url)
    })
  const exited = new Promise<void>((done) =>
    child.on('close', (code, signal) => {
      ended = `${code ?? signal}`
      process.off('exit', orphaned)
      reject(new Error(`t8s up ended with ${ended}:\n${printed}`))
      done()
    }),
  )
  const url = await serving
  const status = (): string => readFileSync(`/proc/${child.pid}/status`, 'utf8')
  return {
    url,
    printed: () => printed,
    ended: () => ended,
    descriptors: () => readdirSync(`/proc/${child.pid}/fd`).length,
    residentMb: () => Number(/VmRSS:\s+(\d+)/.exec(status())?.[1]) / 1024,
    async stop() {
      child.kill('SIGTERM')
      await exited
    },
  }
}
