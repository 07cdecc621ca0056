/** A home directory for tests of `t8s config`, and commands that run in it without a terminal. */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Lifetime } from '../support/reachable-cluster.ts'

export const launcher = join(import.meta.dirname, '../../t8s')

export interface Result {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly env?: Readonly<Record<string, string>>
  /** Standard input. */
  readonly input?: string
  /** Input of file descriptor 3. */
  readonly third?: string
  /** The user. Default: root. */
  readonly uid?: number
  readonly cwd?: string
}

export class Home {
  readonly folder: string
  readonly #environment: Readonly<Record<string, string>>

  constructor(t: Lifetime) {
    this.folder = mkdtempSync(join(tmpdir(), 't8s-config-'))
    t.after(() => rmSync(this.folder, { recursive: true, force: true }))
    this.#environment = { PATH: process.env.PATH ?? '', HOME: this.folder, USER: 'somebody', LANG: 'C.UTF-8' }
  }

  /** The environment of commands. */
  get environment(): Readonly<Record<string, string>> {
    return this.#environment
  }

  path(name: string): string {
    return join(this.folder, name)
  }

  write(name: string, text: string, mode = 0o600): string {
    mkdirSync(dirname(this.path(name)), { recursive: true, mode: 0o700 })
    writeFileSync(this.path(name), text, { mode })
    return this.path(name)
  }

  read(name = '.kube/config'): string {
    return readFileSync(this.path(name), 'utf8')
  }

  /** Runs a program to its end in its own session without a terminal. Kills it after one minute. */
  run(
    program: string,
    args: readonly string[],
    { env, input = '', third, uid, cwd = this.folder }: RunOptions = {},
  ): Promise<Result> {
    const child: ChildProcess = spawn(program, args, {
      cwd,
      env: { ...this.#environment, ...env },
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe', ...(third === undefined ? [] : (['pipe'] as const))],
      ...(uid !== undefined && { uid, gid: uid }),
    })
    const output = { stdout: '', stderr: '' }
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      output.stdout += text
    })
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      output.stderr += text
    })
    // A command that fails early does not read its input.
    for (const stream of [child.stdin, child.stdio[3]]) stream?.on('error', () => {})
    child.stdin!.end(input)
    if (third !== undefined) (child.stdio[3] as unknown as NodeJS.WritableStream).end(third)
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => child.kill('SIGKILL'), 60_000)
      child.on('error', reject).on('close', (code) => {
        clearTimeout(timer)
        resolve({ code, ...output })
      })
    })
  }

  /** Runs `t8s config …`. */
  config(args: readonly string[], options?: RunOptions): Promise<Result> {
    return this.run(launcher, ['config', ...args], options)
  }

  /** Runs `t8s config …`, which must succeed, and returns its output. */
  async ok(args: readonly string[], options?: RunOptions): Promise<string> {
    const { code, stdout, stderr } = await this.config(args, options)
    assert.equal(code, 0, `t8s config ${args.join(' ')}\n${stdout}${stderr}`)
    assert.equal(stderr, '')
    return stdout
  }

  /** Runs `t8s config …`, which must fail with one sentence and change no file in the home. */
  async fails(args: readonly string[], sentence: RegExp, options?: RunOptions): Promise<string> {
    const before = this.#files()
    const { code, stdout, stderr } = await this.config(args, options)
    assert.equal(code, 1, `t8s config ${args.join(' ')} was expected to fail\n${stdout}${stderr}`)
    assert.match(stderr, sentence)
    assert.match(stderr, /^t8s: [^\n]+\n$/, 'one line')
    assert.equal(stdout, '')
    assert.deepEqual(this.#files(), before, 'nothing was changed')
    return stderr
  }

  /** All files with their contents. */
  #files(): Record<string, string> {
    const names = readdirSync(this.folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
    return Object.fromEntries(
      names.map((entry) => join(entry.parentPath, entry.name)).map((file) => [file, readFileSync(file, 'base64')]),
    )
  }
}

/** A handwritten kubeconfig with a context for each name. */
export function kubeconfigOf(names: readonly string[], current = names[0], host = 'example.com'): string {
  const each = (text: (name: string) => string): string => names.map(text).join('')
  const cluster = (name: string): string =>
    `- name: ${name}-cluster\n  cluster:\n    server: https://${name}.${host}:6443 # not from outside\n` +
    '    insecure-skip-tls-verify: true\n'
  const context = (name: string): string =>
    `- context:\n    cluster: ${name}-cluster\n    namespace: ${name}-ns\n    user: ${name}-user\n  name: ${name}\n`
  return `# written by hand
apiVersion: v1
kind: Config
current-context: ${current} # the usual one
clusters:
${each(cluster)}users:
# keep these secret
${each((name) => `- name: ${name}-user\n  user:\n    token: "${name}-0123"\n`)}contexts:
${each(context)}preferences: {}
x-team: {owner: "me", since: 0644}
`
}

/** A kubeconfig as kubeadm writes it. */
export const kubeadmKubeconfig = (host: string): string => `apiVersion: v1
kind: Config
clusters:
- cluster:
    server: https://${host}:6443 # of ${host}
    extensions: [{name: e, extension: {by: ${host}}}]
  name: kubernetes
contexts:
- context: {cluster: kubernetes, user: kubernetes-admin}
  name: kubernetes-admin@kubernetes
current-context: kubernetes-admin@kubernetes
preferences: {}
users:
- name: kubernetes-admin
  user: {token: of-${host}, x-more: kept}
`

/** The value for `skip` of tests that need programs. */
export function without(...programs: readonly string[]): string | false {
  const folders = `${process.env.PATH ?? ''}:/usr/sbin`.split(':')
  const missing = programs.filter((program) => !folders.some((folder) => existsSync(join(folder, program))))
  return missing.length > 0 && `${missing.join(', ')} is not installed`
}
