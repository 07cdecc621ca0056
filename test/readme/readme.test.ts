/**
 * Runs every command of README.md in a fresh clone, in order, and compares the outputs with the documented ones. The
 * real node pulls its image from a mirror of Docker Hub on this machine. Needs root.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { type TestContext, test } from 'node:test'
import { inNamespaces } from '../kubelet/support/in-namespaces.ts'
import { busyboxLayer, layerOf, writeImage } from '../kubelet/support/oci-image.ts'
import { prepareNodeNamespaces } from '../support/node-namespaces.ts'
import { repository, t8s, temporaryFolder } from '../up/t8s-process.ts'
import { consoleCommands } from './console-blocks.ts'
import { Shell } from './shell.ts'
import { faultsOf } from './walk.ts'

const cloned = ['t8s', 'package.json', 'package-lock.json', 'tsconfig.json', 'scripts', 'src', 'examples']
/** The folder of pages of nginx. */
const pages = '/usr/share/nginx/html'
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
    const bin = join(clone, '.npm/bin')
    const PATH = `${bin}:${dirname(process.execPath)}:${process.env.PATH}`
    const shell = new Shell(t, clone, { environment: { PATH, npm_config_prefix: dirname(bin) } })
    // After the end of the shell: a cluster that runs has mounts in the folder.
    t.after(() => rmSync(clone, { recursive: true, force: true }))
    for (const name of cloned)
      cpSync(join(repository, name), join(clone, name), { recursive: true, preserveTimestamps: true })
    symlinkSync(join(repository, 'node_modules'), join(clone, 'node_modules'))
    const commands = consoleCommands(readFileSync(join(repository, 'README.md'), 'utf8'))
    assert.ok(commands.length >= 20, `${commands.length} commands`)
    const replacements = new Map([
      // A link to the clone.
      ['npm install --global typernetes', 'npm install --global .'],
      ['t8s up &', `t8s up --hostname-override=laptop ${mirror} &`],
    ])
    const replaced = (command: string): string => replacements.get(command) ?? command
    const faults = await faultsOf(shell, 'README.md', commands, replaced)
    if (faults.length > 0) assert.fail(faults.join('\n\n'))
  })
})
