/** Finds the kubectls of this machine and runs them against a cluster. */
import assert from 'node:assert/strict'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, readdirSync, realpathSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'

export interface KubectlProgram {
  readonly path: string
  /** The minor version: 32 of `1.32`. */
  readonly minor: number
  /** Its own output: `v1.32.4-dispatcher`. */
  readonly version: string
}

/**
 * Returns kubectl on PATH and, if it is a link into a folder with others (`kubectl.1.27`), those too: one of each minor
 * version. Google's kubectl only starts one of the others. Throws if there is none.
 */
export function installedKubectls(): readonly KubectlProgram[] {
  const onPath = (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, 'kubectl'))
    .find((path) => existsSync(path))
  if (!onPath) throw new Error('there is no kubectl on PATH: install one (Debian: apt-get install kubernetes-client)')
  const folder = dirname(realpathSync(onPath))
  const siblings = readdirSync(folder).filter((name) => /^kubectl\.1\.\d+$/.test(name))
  const found = [...siblings.map((name) => join(folder, name)), onPath].map(programAt)
  return found
    .filter(({ minor }, index) => found.findIndex((other) => other.minor === minor) === index)
    .sort((a, b) => a.minor - b.minor)
}

/**
 * Returns the installed kubectls and those in the folder that the environment variable `T8S_KUBECTLS` names, one of
 * each minor version, for tests that depend on the version of kubectl more than others.
 */
export function manyKubectls(): readonly KubectlProgram[] {
  const folder = process.env.T8S_KUBECTLS
  const installed = installedKubectls()
  if (!folder) return installed
  const more = readdirSync(folder)
    .map((name) => programAt(join(folder, name)))
    .filter(({ minor }) => installed.every((one) => one.minor !== minor))
  return [...installed, ...more].sort((a, b) => a.minor - b.minor)
}

function programAt(path: string): KubectlProgram {
  const { clientVersion } = JSON.parse(
    execFileSync(path, ['version', '--client', '-o', 'json'], {
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    }),
  )
  return { path, version: clientVersion.gitVersion, minor: Number.parseInt(clientVersion.minor, 10) }
}

export interface KubectlResult {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface KubectlInput {
  /** The text of stdin. */
  readonly input?: string
  readonly env?: Readonly<Record<string, string>>
}

/** The expected output: a string is compared with all of it, a pattern matches a part. */
export type Expected = string | RegExp

/**
 * kubectl with a kubeconfig and a namespace. Command lines are strings whose words are separated by spaces; `'…'`
 * quotes spaces.
 */
export class Kubectl {
  readonly program: KubectlProgram
  readonly namespace: string
  readonly #environment: NodeJS.ProcessEnv

  /** `home` is the folder of its discovery cache. */
  constructor(program: KubectlProgram, kubeconfigFile: string, home: string, namespace = 'default') {
    this.program = program
    this.namespace = namespace
    // Garbage collection would take a fifth of the time of such a short process.
    this.#environment = { PATH: process.env.PATH, HOME: home, KUBECONFIG: kubeconfigFile, GOGC: 'off' }
  }

  /** Starts a command. */
  spawn(line: string, { env }: KubectlInput = {}): ChildProcess {
    return spawn(this.program.path, ['--namespace', this.namespace, ...words(line)], {
      env: { ...this.#environment, ...env },
      stdio: ['pipe', 'pipe', 'pipe'],
    })
  }

  /** Runs a command to its end. Resolves also if it fails. */
  run(line: string, options: KubectlInput = {}): Promise<KubectlResult> {
    const child = this.spawn(line, options)
    child.stdin?.end(options.input ?? '')
    return ended(child)
  }

  /**
   * Starts a command and resolves when it watches. `waiting` resolves when it has succeeded with the expected output.
   */
  async watching(line: string): Promise<{ readonly waiting: (expected: Expected) => Promise<void> }> {
    // The log shows when the watch has begun.
    const child = this.spawn(`${line} -v 6`)
    const end = ended(child)
    await new Promise<void>((resolve, reject) => {
      let log = ''
      child.stderr?.on('data', (text: string) => {
        log += text
        if (/[?&]watch=true.*200 OK/.test(log)) resolve()
      })
      end.then((result) => reject(new Error(`did not watch: ${this.#story(line, result)}`)), reject)
    })
    return {
      waiting: async (expected) => {
        const result = await end
        if (result.code !== 0) assert.fail(this.#story(line, result))
        this.#matches(line, result, result.stdout, expected)
      },
    }
  }

  /** Runs a command that must succeed, and checks its output if `expected` is given. Resolves with the output. */
  async ok(line: string, expected?: Expected, options?: KubectlInput): Promise<string> {
    const result = await this.run(line, options)
    if (result.code !== 0) assert.fail(this.#story(line, result))
    if (expected !== undefined) this.#matches(line, result, result.stdout, expected)
    return result.stdout
  }

  /** Runs a command that must fail, and checks its stderr. */
  async fails(line: string, expected: Expected, options?: KubectlInput): Promise<KubectlResult> {
    const result = await this.run(line, options)
    if (result.code === 0) assert.fail(`${this.#story(line, result)}\nwas expected to fail`)
    this.#matches(line, result, result.stderr, expected)
    return result
  }

  /** Returns the parsed output of a command with `-o json`. */
  async json(line: string): Promise<Record<string, unknown>> {
    return JSON.parse(await this.ok(`${line} -o json`)) as Record<string, unknown>
  }

  #matches(line: string, result: KubectlResult, actual: string, expected: Expected): void {
    if (typeof expected === 'string')
      assert.equal(actual, expected, `${this.#story(line, result)}\nwas expected to print\n${expected}`)
    else if (!expected.test(actual)) assert.fail(`${this.#story(line, result)}\nwas expected to match ${expected}`)
  }

  #story(line: string, { code, stdout, stderr }: KubectlResult): string {
    return `kubectl ${this.program.version} $ ${line}\nexit code ${code}\n${stdout}${stderr && `--- stderr\n${stderr}`}`
  }
}

/** Returns the words of a command line. */
const words = (line: string): string[] =>
  (line.match(/(?:[^\s']+|'[^']*')+/g) ?? []).map((word) => word.replaceAll("'", ''))

/** Resolves with the output of a process at its end; kills it after 40 s. */
function ended(child: ChildProcess): Promise<KubectlResult> {
  const output = { stdout: '', stderr: '' }
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output.stdout += text
  })
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    output.stderr += text
  })
  // A kubectl that fails early does not read all of its input.
  child.stdin?.on('error', () => {})
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => child.kill('SIGKILL'), 40_000)
    child.on('error', reject)
    child.on('close', (code) => {
      clearTimeout(timer)
      resolve({ code, ...output })
    })
  })
}
