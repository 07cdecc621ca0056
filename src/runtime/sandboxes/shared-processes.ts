/** The PID namespace that the containers of a pod share: it lives as long as its first process. */
import { spawn } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { machine } from 'node:os'
import { join } from 'node:path'
import type { Executor } from '../executors/executor.ts'
import { recordOf, signalProcess, textOf } from '../host/processes.ts'
import { watchFolder } from '../host/watch-folder.ts'
import type { OciNamespace, OciSpec } from '../spec/oci-spec.ts'
import { defaultProfile } from '../spec/seccomp/default-profile.ts'
import type { ProcessRecord } from '../state/records.ts'
import { pauseProgram } from './pause-program.ts'

const nobody = 65_535

export interface SharedProcessesOptions {
  /** The folder of its files. */
  readonly folder: string
  readonly id: string
  readonly cgroupsPath: string
  /** The other namespaces of the sandbox. */
  readonly namespaces: readonly OciNamespace[]
}

/** Starts the first process of a new PID namespace. Rejects with the executor's error. */
export async function startSharedProcesses(
  executor: Executor,
  { folder, id, cgroupsPath, namespaces }: SharedProcessesOptions,
): Promise<ProcessRecord> {
  const root = join(folder, 'root')
  for (const name of ['proc', 'dev', 'sys']) mkdirSync(join(root, name), { recursive: true, mode: 0o755 })
  writeFileSync(join(root, 'pause'), pauseProgram(process.arch), { mode: 0o755 })
  executor.prepare(folder, infraSpec(root, cgroupsPath, namespaces))
  const [program, ...args] = executor.runCommand(id, folder)
  const child = spawn(program, args, { detached: true, stdio: 'ignore' })
  child.unref()
  const started = await new Promise<ProcessRecord | undefined>((resolve) => {
    child.once('error', () => resolve(undefined))
    child.once('exit', () => resolve(undefined))
    watchFolder(folder, () => {
      const record = recordOf(Number(textOf(join(folder, 'pid'))))
      if (record) resolve(record)
      return record !== undefined || child.exitCode !== null
    })
  })
  if (started) return started
  throw new Error(executor.errorIn(join(folder, 'log')) ?? 'the executor has reported no error')
}

export function endSharedProcesses(infra: ProcessRecord | undefined): void {
  if (infra) signalProcess(infra, 'SIGKILL')
}

const infraSpec = (root: string, cgroupsPath: string, namespaces: readonly OciNamespace[]): OciSpec => ({
  ociVersion: '1.0.2',
  root: { path: root, readonly: true },
  process: {
    terminal: false,
    user: { uid: nobody, gid: nobody, additionalGids: [] },
    args: ['/pause'],
    env: [],
    cwd: '/',
    capabilities: { bounding: [], effective: [], inheritable: [], permitted: [], ambient: [] },
    noNewPrivileges: true,
  },
  mounts: [
    { destination: '/proc', type: 'proc', source: 'proc', options: ['nosuid', 'noexec', 'nodev'] },
    // Root of a pod with users of its own cannot write into the folder.
    { destination: '/dev', type: 'tmpfs', source: 'tmpfs', options: ['nosuid', 'mode=755', 'size=64k'] },
  ],
  annotations: {},
  linux: {
    namespaces: [{ type: 'mount' }, { type: 'pid' }, ...namespaces],
    cgroupsPath,
    devices: [],
    resources: { devices: [{ allow: false, access: 'rwm' }], cpu: { shares: 2 } },
    maskedPaths: ['/proc/kcore', '/proc/keys', '/proc/timer_list', '/proc/sched_debug'],
    readonlyPaths: ['/proc/sys', '/proc/sysrq-trigger', '/proc/irq', '/proc/bus'],
    seccomp: defaultProfile(machine() === 'x86_64' ? ['SCMP_ARCH_X86_64'] : [], []),
  },
})
