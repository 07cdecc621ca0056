/** Removes what machines leave: all that namespaces do not end. A cluster that was killed leaves processes, too. */
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { writeFileAtomically } from '../../lib/files/atomic-file.ts'
import { bootId, startTimeOf } from '../../lib/process/start-time.ts'
import { findCgroups } from '../../node/cgroups/tree/find-cgroups.ts'
import { embeddedRuntime } from '../real-node/settings/embedded-runtime.ts'

interface KnownProcess {
  readonly pid: number
  readonly startTime: string | undefined
}

const pollMs = 20
const processRecord = (folder: string): string => join(folder, 'processes.json')

/** Records processes of machines, so that a later start finds them. */
export function recordProcesses(folder: string, pids: readonly number[]): void {
  const processes = pids.map((pid): KnownProcess => ({ pid, startTime: startTimeOf(pid) }))
  writeFileAtomically(processRecord(folder), JSON.stringify({ boot: bootId(), processes }), 0o600)
}

/** Ends the processes of an earlier start, and removes their files. `folder` is that of all machines. */
export async function removeLeftovers(folder: string): Promise<void> {
  if (!existsSync(folder)) return
  await endProcesses(folder)
  for (const { name } of readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory()))
    if (/^machine-\d+$/.test(name)) await removeMachine(join(folder, name))
  rmSync(processRecord(folder), { force: true })
}

/** Its processes and mounts have ended with its namespaces. */
async function removeMachine(folder: string): Promise<void> {
  const { cgroup, state } = embeddedRuntime(folder)
  const cgroups = findCgroups()
  while (cgroups.processes(cgroup).length > 0) await delay(pollMs)
  await cgroups.remove(cgroup)
  for (const path of [state, folder]) rmSync(path, { recursive: true, force: true })
}

async function endProcesses(folder: string): Promise<void> {
  for (const { pid, startTime } of knownProcesses(folder)) {
    const isRunning = (): boolean => startTime !== undefined && startTimeOf(pid) === startTime
    if (isRunning()) process.kill(pid, 'SIGKILL')
    while (isRunning()) await delay(pollMs)
  }
}

function knownProcesses(folder: string): readonly KnownProcess[] {
  try {
    const known: { readonly boot: string; readonly processes: readonly KnownProcess[] } = JSON.parse(
      readFileSync(processRecord(folder), 'utf8'),
    )
    return known.boot === bootId() ? known.processes : []
  } catch {
    return []
  }
}
