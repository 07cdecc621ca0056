/** A shell for the commands of documents. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'

/** A build on a busy machine takes a minute. */
const limitMs = 240_000
/** Lines of the shell about background processes. */
const aboutJobs = /^\[\d+\]|^bash: line \d+: +\d+ Killed /

/** Ends the shell after its last command: a test, or a program. */
export interface ShellOwner {
  after(end: () => unknown): void
}

export interface ShellOptions {
  /** The command that enters namespaces, such as `unshare -n`. Default: none. */
  readonly enter?: readonly string[]
  /** Variables beside those of this process. */
  readonly environment?: Readonly<Record<string, string>>
}

/** A bash that runs commands in sequence. Background processes are its children, and end with it. */
export class Shell {
  readonly #bash: ChildProcess
  #output = ''

  constructor(owner: ShellOwner, cwd: string, { enter = [], environment = {} }: ShellOptions = {}) {
    const env = { ...process.env, HOME: cwd, KUBECONFIG: '', ...environment }
    const [program = 'bash', ...args] = [...enter, 'bash', '--norc', '--noprofile']
    this.#bash = spawn(program, args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe'] })
    for (const stream of [this.#bash.stdout!, this.#bash.stderr!])
      stream.setEncoding('utf8').on('data', (text: string) => (this.#output += text))
    owner.after(async () => {
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
    return this.#output.split('\n').filter((line) => line !== mark && !aboutJobs.test(line))
  }
}
