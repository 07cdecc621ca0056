/** Runs every command of README.md in a fresh clone, in order, and compares the outputs with the documented ones. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { repository, temporaryFolder } from '../up/t8s-process.ts'
import { consoleCommands, matches } from './console-blocks.ts'

const cloned = ['t8s', 'package.json', 'package-lock.json', 'tsconfig.json', 'scripts', 'src', 'examples']
/** A build on a busy machine takes a minute. */
const limitMs = 240_000

/** A bash that runs commands in sequence. Background processes are its children, and end with it. */
class Shell {
  readonly #bash: ChildProcess
  #output = ''

  constructor(t: TestContext, cwd: string) {
    const env = { ...process.env, HOME: cwd, KUBECONFIG: '' }
    this.#bash = spawn('bash', ['--norc', '--noprofile'], { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] })
    for (const stream of [this.#bash.stdout!, this.#bash.stderr!])
      stream.setEncoding('utf8').on('data', (text: string) => (this.#output += text))
    t.after(async () => {
      if (this.#bash.exitCode !== null) return
      const exited = once(this.#bash, 'exit')
      // Each job is a process group of its own.
      this.#bash.stdin!.end('kill -KILL $(jobs -p) 2>/dev/null; wait; exit\n')
      await exited
    })
    // Jobs: kill %1.
    this.#bash.stdin!.write('set -m\n')
  }

  /** Returns the lines of a command's output; for a background command, those up to `last`. */
  async run(command: string, last?: string): Promise<string[]> {
    this.#output = ''
    const mark = `done-${Math.random()}`
    this.#bash.stdin!.write(`${command}\n${last ? '' : `echo ${mark}\n`}`)
    const until = performance.now() + limitMs
    while (!this.#output.includes(last ?? mark)) {
      if (performance.now() > until) throw new Error(`not ended within ${limitMs} ms: ${command}\n${this.#output}`)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    return this.#output.split('\n').filter((line) => line !== mark && !/^\[\d+\]/.test(line))
  }
}

test('the commands of README.md print the documented output', { timeout: 580_000 }, async (t) => {
  const clone = join(temporaryFolder(t), 'clone')
  mkdirSync(clone)
  for (const name of cloned)
    cpSync(join(repository, name), join(clone, name), { recursive: true, preserveTimestamps: true })
  symlinkSync(join(repository, 'node_modules'), join(clone, 'node_modules'))
  const shell = new Shell(t, clone)
  const commands = consoleCommands(readFileSync(join(repository, 'README.md'), 'utf8'))
  assert.ok(commands.length >= 20, `${commands.length} commands`)
  const faults: string[] = []
  for (const { command, output, line } of commands) {
    const isBackground = command.endsWith(' &')
    // A free port, as tests run side by side. Nothing is printed by the operator at its start.
    const run = command === './t8s up &' ? './t8s up --secure-port 0 &' : command
    const printed = await shell.run(run, isBackground ? output.findLast((one) => one.trim() !== '') : undefined)
    const shown = printed.filter((one) => !one.startsWith('t8s: '))
    if (!matches(output, shown))
      faults.push(`README.md:${line}: $ ${command}\ndocumented:\n${output.join('\n')}\nprinted:\n${printed.join('\n')}`)
  }
  if (faults.length > 0) assert.fail(faults.join('\n\n'))
})
