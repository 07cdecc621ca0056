/**
 * Debian's containerd in network and mount namespaces of its own, with its own folders: it sees and changes nothing of
 * the machine's containers, interfaces and rules. Needs root.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { linuxMounter } from '../../../src/kubelet/volumes/mounts/linux-mounter.ts'
import { mountsWithin } from '../../../src/kubelet/volumes/mounts/mount-table.ts'
import { findCgroups } from '../../../src/node/cgroups/tree/find-cgroups.ts'
import { isInNamespaces } from './in-namespaces.ts'
import { busyboxLayer, writeImage } from './oci-image.ts'

const run = promisify(execFile)

export interface Containerd {
  /** Such as `unix:///tmp/…/containerd.sock`. */
  readonly endpoint: string
  /** Its process, whose namespaces hold the pods. */
  readonly pid: number
  /** Runs a command in its namespaces and resolves with the output. */
  enter(command: string, ...args: string[]): Promise<string>
  /** Imports the archive of an image (`writeImage`). */
  importImage(file: string): Promise<void>
  /** Stops containerd alone: containers continue. */
  stopDaemon(): Promise<void>
  /** Starts it again. Only for tests in namespaces. */
  startDaemon(): Promise<void>
  stop(): Promise<void>
}

/** The cgroup of a runtime's pods, which its kubelet gets as `cgroupRoot`: tests share no cgroups. */
export const cgroupRootOf = (endpoint: string): string => `/${basename(dirname(endpoint))}`

/** Names of the images that every test may use; all are in the runtime from the start. */
export const images = {
  pause: 'registry.test/pause:3.10',
  busybox: 'registry.test/busybox:1',
  /** The same programs with another image id, for updates of templates. */
  newBusybox: 'registry.test/busybox:2',
} as const

const configOf = (folder: string): string => `
version = 2
root = "${folder}/root"
state = "${folder}/state"
disabled_plugins = ["io.containerd.internal.v1.opt"]
[grpc]
  address = "${folder}/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "${images.pause}"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "/usr/lib/cni"
    conf_dir = "${folder}/cni"
  [plugins."io.containerd.grpc.v1.cri".containerd]
    default_runtime_name = "crun"
    [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.crun]
      runtime_type = "io.containerd.runc.v2"
      [plugins."io.containerd.grpc.v1.cri".containerd.runtimes.crun.options]
        BinaryName = "crun"
        SystemdCgroup = false
`

const networkOf = (folder: string) => ({
  cniVersion: '1.0.0',
  name: 'pods',
  plugins: [
    {
      type: 'bridge',
      bridge: 'cni0',
      isGateway: true,
      ipMasq: true,
      hairpinMode: true,
      ipam: {
        type: 'host-local',
        ranges: [[{ subnet: '10.88.0.0/16' }]],
        routes: [{ dst: '0.0.0.0/0' }],
        dataDir: join(folder, 'networks'),
      },
    },
    { type: 'portmap', capabilities: { portMappings: true } },
  ],
})

/**
 * Prepares the namespaces and becomes containerd: mounts of pods must reach containers (`rshared`), and crun accepts no
 * controllers in cgroup v2 beside those of v1.
 */
const script = (folder: string): string => `
set -e
mount --make-rshared /
if mountpoint -q /sys/fs/cgroup/unified; then umount /sys/fs/cgroup/unified; fi
ip link set lo up
exec containerd --config ${folder}/config.toml
`

/** In a process of `inNamespaces`, it shares the namespaces of the process. */
export async function startContainerd(): Promise<Containerd> {
  const folder = mkdtempSync(join(tmpdir(), 't8s-containerd-'))
  mkdirSync(join(folder, 'cni'))
  writeFileSync(join(folder, 'cni/10-pods.conflist'), JSON.stringify(networkOf(folder)))
  writeFileSync(join(folder, 'config.toml'), configOf(folder))
  const endpoint = `unix://${folder}/containerd.sock`
  findCgroups().create(cgroupRootOf(endpoint))
  let { child, log } = spawnContainerd(folder)
  const enter = async (command: string, ...args: string[]): Promise<string> =>
    (await run('nsenter', ['-t', String(child.pid), '-n', '-m', command, ...args], { maxBuffer: 1 << 26 })).stdout
  const importImage = async (file: string): Promise<void> => {
    await enter('ctr', '-a', join(folder, 'containerd.sock'), '-n', 'k8s.io', 'images', 'import', file)
  }
  try {
    await waitForSocket(child, join(folder, 'containerd.sock'), log)
    await importImages(folder, importImage)
  } catch (error) {
    await end(child, folder)
    throw error
  }
  return {
    endpoint,
    get pid() {
      return child.pid!
    },
    enter,
    importImage,
    stopDaemon: () => stopDaemon(child),
    async startDaemon() {
      if (!isInNamespaces()) throw new Error('containerd restarts only in the namespaces of the test process')
      rmSync(join(folder, 'containerd.sock'), { force: true })
      ;({ child, log } = spawnContainerd(folder))
      await waitForSocket(child, join(folder, 'containerd.sock'), log)
    },
    stop: () => end(child, folder),
  }
}

function spawnContainerd(folder: string) {
  const log: string[] = []
  const [program, ...args] = isInNamespaces() ? ['sh'] : ['unshare', '-n', '-m', 'sh']
  const child = spawn(program!, [...args, '-c', script(folder)], { stdio: ['ignore', 'pipe', 'pipe'] })
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => void log.push(text))
  return { child, log }
}

async function waitForSocket(child: ChildProcess, socket: string, log: readonly string[]): Promise<void> {
  for (let waited = 0; !existsSync(socket); waited += 50) {
    if (child.exitCode !== null || waited > 30_000) throw new Error(`containerd has not started:\n${log.join('')}`)
    await delay(50)
  }
}

async function importImages(folder: string, importImage: Containerd['importImage']): Promise<void> {
  const layers = [busyboxLayer()]
  const pause = join(folder, 'pause.tar')
  const busybox = join(folder, 'busybox.tar')
  writeImage(pause, [images.pause], layers, { Entrypoint: ['/bin/sleep', '2147483647'] })
  const newBusybox = join(folder, 'new-busybox.tar')
  writeImage(busybox, [images.busybox], layers, { Cmd: ['sh'] })
  writeImage(newBusybox, [images.newBusybox], layers, { Cmd: ['sh'], Env: ['VERSION=2'] })
  for (const file of [pause, busybox, newBusybox]) await importImage(file)
}

async function stopDaemon(child: ChildProcess): Promise<void> {
  const exited = new Promise((resolve) => (child.exitCode === null ? child.once('exit', resolve) : resolve(0)))
  child.kill('SIGTERM')
  await exited
}

/** Ends containerd and the shims of its containers, which outlive it. */
async function end(child: ChildProcess, folder: string): Promise<void> {
  await stopDaemon(child)
  for (const pid of await pidsWith(folder)) process.kill(pid, 'SIGKILL')
  await removeCgroups(cgroupRootOf(join(folder, 'containerd.sock')))
  // Those of containers that containerd has not removed yet.
  for (const { target } of mountsWithin(await linuxMounter.list(), folder)) await linuxMounter.unmount(target)
  rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 })
}

/** The processes that have a path of this folder in their command line. */
async function pidsWith(folder: string): Promise<number[]> {
  const { stdout } = await run('sh', ['-c', 'ls /proc | grep -E "^[0-9]+$"'])
  return stdout
    .trim()
    .split('\n')
    .map(Number)
    .filter((pid) => {
      try {
        return pid !== process.pid && readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(folder)
      } catch {
        return false
      }
    })
}

/** Ends the containers that outlive their shims, and removes all cgroups of the runtime's pods. */
async function removeCgroups(path: string): Promise<void> {
  const tree = findCgroups()
  for (const pid of tree.processes(path))
    try {
      process.kill(pid, 'SIGKILL')
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  while (tree.processes(path).length > 0) await delay(50)
  await tree.remove(path)
}
