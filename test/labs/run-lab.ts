/** Runs the commands of a lab's page in network, mount and process namespaces of their own. Needs root. */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Shell, type ShellOwner } from '../readme/shell.ts'
import { nodeNamespaceScript } from '../support/node-namespaces.ts'
import { waitFor } from '../support/wait-for.ts'
import type { LabPage } from './lab-page.ts'

const repository = join(import.meta.dirname, '../..')

/** Folders that a lab has for itself: `ip netns`, the records of a node. */
const covered = ['/run', '/var/lib/typernetes', '/etc/cni']

/** Returns the programs of a page that this machine does not have. */
export const missingPrograms = ({ needs }: LabPage): string[] =>
  needs.filter((program) => spawnSync('sh', ['-c', `command -v "$0"`, program]).status !== 0)

/** Runs the commands in order; `onOutput` gets each with its output. */
export async function runLab(
  owner: ShellOwner,
  { commands }: LabPage,
  onOutput: (index: number, lines: string[]) => void,
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 't8s-lab-'))
  const programs = join(folder, '.bin')
  mkdirSync(programs)
  symlinkSync(join(repository, 't8s'), join(programs, 't8s'))
  const shell = new Shell(owner, folder, {
    enter: ['unshare', '-n', '-m', '-p', '-f', '--mount-proc', '--kill-child'],
    environment: { LC_ALL: 'C', PATH: `${programs}:/usr/sbin:/sbin:${process.env.PATH}` },
  })
  owner.after(() => rmSync(folder, { recursive: true, force: true }))
  for (const one of covered) mkdirSync(one, { recursive: true })
  const mounts = covered.map((one) => `mount -t tmpfs tmpfs ${one}`).join('\n')
  const prepared = await shell.run(`(${nodeNamespaceScript}${mounts}\n)`)
  if (prepared.some((line) => line !== '')) throw new Error(`the namespaces of the lab: ${prepared.join('\n')}`)
  const background: BackgroundOutput[] = []
  for (const [index, { command, output }] of commands.entries()) {
    if (!command.endsWith(' &')) {
      const printed = await shell.run(command)
      const rest = /\bwait\b/.test(command) ? background.flatMap((one) => one.take()) : []
      onOutput(index, rest.length > 0 ? [...printed, ...rest].filter((line) => line !== '') : printed)
      continue
    }
    const started = new BackgroundOutput(join(folder, `.output-${index}`))
    background.push(started)
    await shell.run(`{ ${command.slice(0, -2)}; } > ${started.file} 2>&1 &`)
    const last = output.map((line) => line.split('…')[0]!.trim()).findLast((line) => line !== '')
    onOutput(index, last === undefined ? [] : await started.until(command, last))
  }
}

/** The output of a command in the background: its beginning, and the rest when a page waits for it. */
class BackgroundOutput {
  readonly file: string
  #shown = 0

  constructor(file: string) {
    this.file = file
  }

  /** Resolves with the lines up to one that contains `last`: then the command is ready. */
  async until(command: string, last: string): Promise<string[]> {
    const end = await waitFor(`a line with ${JSON.stringify(last)} of ${command}`, () => {
      const text = this.#text()
      const at = text.indexOf(last)
      const newline = at < 0 ? -1 : text.indexOf('\n', at)
      return newline < 0 ? undefined : newline + 1
    })
    return this.take(end)
  }

  /** Returns the lines that were not returned before. */
  take(end?: number): string[] {
    const text = this.#text().slice(this.#shown, end)
    this.#shown += text.length
    return text.trimEnd().split('\n')
  }

  #text(): string {
    return existsSync(this.file) ? readFileSync(this.file, 'utf8') : ''
  }
}
