/**
 * Runs every command of README.md in a fresh clone, in order, and compares the outputs with the documented ones. The
 * real node pulls its image from a mirror of Docker Hub on this machine. Needs root.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { inNamespaces } from '../kubelet/support/in-namespaces.ts'
import { busyboxLayer, layerOf, writeImage } from '../kubelet/support/oci-image.ts'
import { prepareNodeNamespaces } from '../support/node-namespaces.ts'
import { repository, t8s, temporaryFolder } from '../up/t8s-process.ts'
import { consoleCommands, matches } from './console-blocks.ts'

const cloned = ['t8s', 'package.json', 'package-lock.json', 'tsconfig.json', 'scripts', 'src', 'examples']
/** The folder of pages of nginx. */
const pages = '/usr/share/nginx/html'
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

function writePage(root: string, page: string): void {
  mkdirSync(join(root, pages), { recursive: true })
  writeFileSync(join(root, pages, 'index.html'), page)
}

/** Serves a stand-in of the image nginx, and returns the flag of `t8s up` for it. */
async function mirrorOfNginx(t: TestContext): Promise<string> {
  const folder = temporaryFolder(t)
  const archive = join(folder, 'nginx.tar')
  const page = '<!DOCTYPE html>\n<html>\n<head>\n<title>Welcome to nginx!</title>\n</head>\n</html>\n'
  const layers = [busyboxLayer(), layerOf((root) => writePage(root, page))]
  const Cmd = ['httpd', '-f', '-p', '80', '-h', pages]
  writeImage(archive, ['docker.io/library/nginx:latest'], layers, { Cmd, StopSignal: 'SIGKILL' })
  const root = ['--image-root', join(folder, 'images')]
  const { code, stderr } = t8s(['image', 'import', ...root, archive])
  assert.equal(code, 0, stderr)
  const child = spawn(join(repository, 't8s'), ['image', 'serve', '--port=0', ...root], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  t.after(() => child.kill())
  for await (const line of createInterface({ input: child.stdout })) {
    const [, url] = /^serving .* on (http:.*)$/.exec(line) ?? []
    if (url) return `--mirror=docker.io=${url}`
  }
  throw new Error('t8s image serve has ended')
}

await inNamespaces(import.meta.filename, () => {
  prepareNodeNamespaces(['/run/typernetes', '/var/lib/typernetes', '/etc/cni'])
  test('the commands of README.md print the documented output', { timeout: 580_000 }, async (t) => {
    const mirror = await mirrorOfNginx(t)
    const clone = mkdtempSync(join(tmpdir(), 't8s-readme-'))
    const shell = new Shell(t, clone)
    // After the end of the shell: a cluster that runs has mounts in the folder.
    t.after(() => rmSync(clone, { recursive: true, force: true }))
    for (const name of cloned)
      cpSync(join(repository, name), join(clone, name), { recursive: true, preserveTimestamps: true })
    symlinkSync(join(repository, 'node_modules'), join(clone, 'node_modules'))
    const commands = consoleCommands(readFileSync(join(repository, 'README.md'), 'utf8'))
    assert.ok(commands.length >= 20, `${commands.length} commands`)
    const faults: string[] = []
    for (const { command, output, line } of commands) {
      const run = command === './t8s up &' ? `./t8s up --hostname-override=laptop ${mirror} &` : command
      // Nothing is printed by the operator at its start.
      const last = output.map((one) => one.split('…')[0]!.trim()).findLast((one) => one !== '')
      const printed = await shell.run(run, command.endsWith(' &') ? last : undefined)
      const shown = printed.filter((one) => !one.startsWith('t8s: '))
      if (!matches(output, shown))
        faults.push(
          `README.md:${line}: $ ${command}\ndocumented:\n${output.join('\n')}\nprinted:\n${printed.join('\n')}`,
        )
    }
    if (faults.length > 0) assert.fail(faults.join('\n\n'))
  })
})
