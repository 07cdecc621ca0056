/** Programs of the host, such as unshare, umount and plug-ins of networks. */
import { execFile } from 'node:child_process'

export interface ProgramOptions {
  readonly input?: string
  readonly env?: Readonly<Record<string, string | undefined>>
  readonly timeoutMs?: number
}

export interface Outcome {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Resolves with the output. Rejects only if the program cannot be started, or takes too long. */
export const runProgram = (
  program: string,
  args: readonly string[],
  { input, env = process.env, timeoutMs = 0 }: ProgramOptions = {},
): Promise<Outcome> =>
  new Promise((resolve, reject) => {
    const options = { env: { ...env, LC_ALL: 'C' }, timeout: timeoutMs, killSignal: 'SIGKILL' } as const
    const child = execFile(program, args, options, (error, stdout, stderr) => {
      if (!error) resolve({ code: 0, stdout, stderr })
      else if (typeof error.code === 'number') resolve({ code: error.code, stdout, stderr })
      else reject(error.killed ? new Error(`${program} has not ended after ${timeoutMs} ms`) : error)
    })
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
  })

/** Resolves with the output on stdout. Rejects with the error output if the program fails. */
export async function succeed(program: string, args: readonly string[], options?: ProgramOptions): Promise<string> {
  const { code, stdout, stderr } = await runProgram(program, args, options)
  if (code !== 0)
    throw new Error(`${program} ${args[0] ?? ''}: ${stderr.trim() || stdout.trim() || `exit status ${code}`}`)
  return stdout
}
