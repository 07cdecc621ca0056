/** Connects through a program (ProxyCommand of ssh_config(5)): its input and output are the connection. */
import { spawn } from 'node:child_process'
import { Duplex } from 'node:stream'
import { ExplainedError, reasonOf } from '../../../../lib/explained-error.ts'

export interface ProxyProgram {
  readonly stream: Duplex
  /** Resolves when the program has ended, with an error that contains its last message. */
  readonly ended: Promise<ExplainedError>
}

const maxStderr = 1000

/** Runs the command in a shell, as ssh does, and sends SIGHUP at the end. `alias` names the machine in errors. */
export function proxyProgram(command: string, alias: string): ProxyProgram {
  const child = spawn('/bin/sh', ['-c', `exec ${command}`], { stdio: 'pipe' })
  const stream = Duplex.from({ readable: child.stdout, writable: child.stdin })
  const hangUp = (): void => void child.kill('SIGHUP')
  // Errors are reported by `ended`.
  stream
    .on('error', () => {})
    .on('finish', hangUp)
    .on('close', hangUp)
  let stderr = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr = (stderr + text).slice(-maxStderr)
  })
  const { promise: ended, resolve } = Promise.withResolvers<ExplainedError>()
  const end = (how: string): void => {
    resolve(new ExplainedError(`the ProxyCommand of ${alias} (${command}) ${how}: check that ssh ${alias} works`))
    stream.destroy()
  }
  child.on('error', (error) => end(`cannot be run: ${reasonOf(error)}`))
  child.on('close', (code, signal) =>
    end(`ended with ${[code ?? signal, stderr.trim().split('\n').at(-1)].filter((part) => part !== '').join(': ')}`),
  )
  return { stream, ended }
}
