/** Runs the commands of a lab's page in network, mount and process namespaces of their own. Needs root. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Shell, type ShellOwner } from '../readme/shell.ts'
import { nodeNamespaceScript } from '../support/node-namespaces.ts'
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
  for (const [index, { command, output }] of commands.entries()) {
    // A command in the background runs when it has printed the last line of its output.
    const last = output.map((line) => line.split('…')[0]!.trim()).findLast((line) => line !== '')
    onOutput(index, await shell.run(command, command.endsWith(' &') ? last : undefined))
  }
}
