/** Runs a file of tests in a process in other namespaces, such as a mount namespace of its own. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'

export interface TestProcess {
  /** The command that enters the namespaces, such as `unshare -m`. */
  readonly enter: readonly [program: string, ...args: string[]]
  readonly file: string
  readonly environment?: Readonly<Record<string, string>>
}

/** Less than the time that the runner gives to a test: then the output is not lost. In ms. */
const deadlineMs = 570_000

/** Rejects with the output of the tests if one fails, if there are none, and if the process does not end in time. */
export async function runTestsIn({ enter: [program, ...args], file, environment }: TestProcess): Promise<void> {
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env
  const node = [process.execPath, ...process.execArgv, '--test-reporter=spec', file]
  const child = spawn(program, [...args, ...node], {
    env: { ...inherited, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text
    })
  const timer = setTimeout(() => {
    output += `\nended after ${deadlineMs / 1000} s\n`
    child.kill('SIGKILL')
  }, deadlineMs)
  const code = await new Promise((resolve) => child.once('close', resolve)).finally(() => clearTimeout(timer))
  assert.equal(code, 0, output)
  assert.match(output, /pass [1-9]/)
}
