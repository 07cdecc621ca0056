/** Programs of the node, such as mount and mkfs. */
import { execFile } from 'node:child_process'

export interface Outcome {
  /** The exit status. */
  readonly code: number
  /** The text on stdout and stderr. */
  readonly output: string
}

export type RunProgram = (program: string, args: readonly string[]) => Promise<Outcome>

/** Messages are in English. Rejects only if the program cannot be started. */
export const runProgram: RunProgram = (program, args) =>
  new Promise((resolve, reject) => {
    execFile(program, args, { env: { ...process.env, LC_ALL: 'C' } }, (error, stdout, stderr) => {
      const output = `${stdout}${stderr}`
      if (!error) resolve({ code: 0, output })
      else if (typeof error.code === 'number') resolve({ code: error.code, output })
      else reject(error)
    })
  })
