/** The programs that run a container, and a command in it, from outside of all its namespaces. */
import type { OciNamespace, OciProcess, OciSpec } from '../../spec/oci-spec.ts'
import { ProgramWriter } from './program/program-writer.ts'
import { ownStreams, runProcess, setAppArmor, setLimits } from './setup/identity.ts'
import { currentFolder, namespaceFlags, openFlags } from './setup/kernel-constants.ts'
import { limitDevices } from './setup/limit-devices.ts'
import { makeFolders } from './setup/mount-points.ts'
import { setUpRoot, type VisibleCgroup } from './setup/root-file-system.ts'
import { filterSetter } from './setup/set-filter.ts'
import {
  continueInChild,
  enterNamespace,
  joinCgroups,
  openNamespace,
  pidBytes,
  readOwnPid,
  resetSignals,
  secureStart,
  setOomScore,
} from './setup/start-program.ts'

export interface ProgramCgroups {
  /** The folders that the process joins. */
  readonly folders: readonly string[]
  readonly visible: readonly VisibleCgroup[]
  readonly version: 1 | 2
}

/** `pidFile` gets the number of the first process before it starts. */
export function containerProgram(spec: OciSpec, cgroups: ProgramCgroups, pidFile: string): Buffer {
  const writer = new ProgramWriter()
  const { process, linux } = spec
  const of = (type: OciNamespace['type']) => linux.namespaces.find((one) => one.type === type)
  resetSignals(writer)
  secureStart(writer)
  const pid = of('pid')
  if (pid?.path) enterNamespace(writer, 'pid', openNamespace(writer, pid.path))
  else if (pid) unshare(writer, 'pid')
  const waitForChild = pid ? continueInChild(writer) : undefined
  savePid(writer, pidFile)
  setOomScore(writer, process.oomScoreAdj)
  joinCgroups(writer, cgroups.folders)
  if (cgroups.version === 2) limitDevices(writer, linux.resources.devices ?? [], cgroups.folders[0]!)
  for (const type of ['ipc', 'uts', 'network', 'cgroup', 'mount'] as const) {
    const path = of(type)?.path
    if (path) enterNamespace(writer, type, openNamespace(writer, path))
    else if (of(type)) unshare(writer, type)
  }
  setUpRoot(writer, spec, cgroups.visible)
  ownStreams(writer, process)
  setLimits(writer, process)
  makeFolders(writer, process.cwd)
  setAppArmor(writer, process)
  const filter = filterSetter(writer, linux.seccomp)
  runProcess(writer, process, { filter, started: () => {}, failed: () => {} })
  waitForChild?.()
  return writer.write()
}

export interface CommandPlace {
  /** The first process of the container. */
  readonly pid: number
  /** Gets the number of the command's process. */
  readonly pidFile: string
  /** The folders of cgroups that the command joins. */
  readonly folders: readonly string[]
  /** The path of the program itself, which it removes. */
  readonly program: string
}

/** Runs a command in a running container. */
export function commandProgram(
  spec: OciSpec,
  process: OciProcess,
  { pid, pidFile, folders, program }: CommandPlace,
): Buffer {
  const writer = new ProgramWriter()
  resetSignals(writer)
  secureStart(writer)
  writer.call('unlinkat', [currentFolder, program, 0], { ignored: 'all' })
  const types = ['ipc', 'uts', 'network', 'cgroup', 'mount'] as const
  const wanted = types.filter((type) => spec.linux.namespaces.some((one) => one.type === type))
  const files = wanted.map((type) => ({ type, file: openNamespace(writer, `/proc/${pid}/ns/${fileNames[type]}`) }))
  const hasPid = spec.linux.namespaces.some(({ type }) => type === 'pid')
  if (hasPid) enterNamespace(writer, 'pid', openNamespace(writer, `/proc/${pid}/ns/pid`))
  const waitForChild = hasPid ? continueInChild(writer) : undefined
  const text = readOwnPid(writer)
  const saved = writer.open('openat', [currentFolder, pidFile, openFlags.write | openFlags.create, 0o600])
  setOomScore(writer, process.oomScoreAdj)
  joinCgroups(writer, folders)
  for (const { type, file } of files) enterNamespace(writer, type, file)
  ownStreams(writer, process)
  setLimits(writer, process)
  setAppArmor(writer, process)
  runProcess(writer, process, {
    filter: filterSetter(writer, spec.linux.seccomp),
    started: () => writer.call('write', [saved, text, pidBytes]),
    failed: () => writer.call('ftruncate', [saved, 0]),
  })
  waitForChild?.()
  return writer.write()
}

/** Names in `/proc/PID/ns`. */
const fileNames = { ipc: 'ipc', uts: 'uts', network: 'net', cgroup: 'cgroup', mount: 'mnt' } as const

function unshare(writer: ProgramWriter, type: keyof typeof namespaceFlags): void {
  writer.call('unshare', [namespaceFlags[type]], { message: `cannot make a ${type} namespace` })
}

function savePid(writer: ProgramWriter, path: string): void {
  const text = readOwnPid(writer)
  const message = `cannot write ${path}`
  const flags = openFlags.write | openFlags.create | openFlags.truncate
  const file = writer.open('openat', [currentFolder, path, flags, 0o600], { message })
  writer.call('write', [file, text, pidBytes], { message })
  writer.close(file)
}
