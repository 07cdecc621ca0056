/** The configuration of a container that runs a command of a build: that of a pod with the network of the machine. */
import { existsSync, writeFileSync } from 'node:fs'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { create } from '@bufbuild/protobuf'
import { ContainerConfigSchema, PodSandboxConfigSchema } from '#protobuf/cri-runtime_pb.js'
import { SecurityProfile_ProfileType as ProfileType } from '#protobuf/cri-values_pb.js'
import { hostLimits } from '../../host/host-limits.ts'
import { containerSpec } from '../../spec/container-spec.ts'
import type { OciSpec } from '../../spec/oci-spec.ts'
import { readRootFile } from '../../spec/root-files.ts'
import { resolveUser } from '../../spec/user.ts'
import type { RunCommand } from './command-runner.ts'

/** As Docker's. */
const maskedPaths = ['/proc/acpi', '/proc/kcore', '/proc/keys', '/proc/timer_list', '/proc/sched_debug', '/proc/scsi']
const readonlyPaths = ['/proc/bus', '/proc/fs', '/proc/irq', '/proc/sys', '/proc/sysrq-trigger']

export interface RunPlace {
  readonly id: string
  /** The folder of the container. */
  readonly folder: string
  readonly root: string
  readonly command: RunCommand
}

export function runSpec({ id, folder, root, command }: RunPlace): OciSpec {
  const { args, environment, workingDir, user } = command
  const config = create(ContainerConfigSchema, {
    command: [...args],
    workingDir,
    linux: {
      securityContext: { maskedPaths, readonlyPaths, seccomp: { profileType: ProfileType.RuntimeDefault } },
      resources: {},
    },
  })
  const { cgroupVersion, minOomScoreAdj } = hostLimits()
  const spec = containerSpec({
    config,
    sandbox: create(PodSandboxConfigSchema, {}),
    hostname: hostname(),
    image: {
      entrypoint: [],
      cmd: [],
      env: [...environment].map(([name, value]) => `${name}=${value}`),
      user,
      workingDir: '',
      stopSignal: '',
    },
    user: resolveUser(undefined, user, {
      passwd: readRootFile(root, 'etc/passwd'),
      group: readRootFile(root, 'etc/group'),
    }),
    root,
    paths: pathsOf(folder),
    namespaces: { user: undefined, network: undefined, uts: undefined, ipc: undefined, pid: 'new' },
    cgroupsPath: `/t8s-build-${id}`,
    cgroupVersion,
    minOomScoreAdj,
    appArmor: undefined,
  })
  return {
    ...spec,
    mounts: spec.mounts.map((mount) => (mount.destination === sharedMemory.destination ? sharedMemory : mount)),
    linux: { ...spec.linux, namespaces: [...spec.linux.namespaces, { type: 'ipc' }, { type: 'uts' }] },
  }
}

/** Pods share that of their sandbox; the command has one of its own. */
const sharedMemory = {
  destination: '/dev/shm',
  type: 'tmpfs',
  source: 'shm',
  options: ['nosuid', 'nodev', 'noexec', 'mode=1777', 'size=65536k'],
}

/** Names of hosts are the machine's. */
function pathsOf(folder: string) {
  const path = (name: string): string => join(folder, name)
  writeFileSync(path('hostname'), `${hostname()}\n`, { mode: 0o644 })
  const hosts = existsSync('/etc/hosts') ? '/etc/hosts' : path('hosts')
  const resolvConf = existsSync('/etc/resolv.conf') ? '/etc/resolv.conf' : path('resolv.conf')
  for (const file of [hosts, resolvConf]) if (file.startsWith(folder)) writeFileSync(file, '', { mode: 0o644 })
  return { hostname: path('hostname'), hosts, resolvConf, shm: path('shm') }
}
