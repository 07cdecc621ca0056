/** A machine of tests: namespaces of this process with a network, and a cluster of `t8s up` on it. Needs root. */
import { execFileSync } from 'node:child_process'
import { dataDirectoryPaths } from '../../src/cluster/data-directory.ts'
import { embeddedRuntime } from '../../src/cluster/real-node/settings/embedded-runtime.ts'
import { findCgroups } from '../../src/node/cgroups/tree/find-cgroups.ts'
import { prepareNodeNamespaces } from '../support/node-namespaces.ts'
import type { Lifetime } from '../support/reachable-cluster.ts'
import { waitFor } from '../support/wait-for.ts'
import { type Running, up } from '../up/t8s-process.ts'

/** Folders of the machine that get empty ones of the namespace in their place. */
const covered = ['/run/typernetes', '/var/lib/typernetes', '/etc/cni']

/** The addresses of the machine. */
export const machineAddress = '192.0.2.7'
export const machineAddress6 = '2001:db8::7'

/**
 * Prepares the namespaces, and an interface with addresses of both families and default routes. Also the given folders
 * become empty ones.
 */
export function prepareMachine(folders: readonly string[] = []): void {
  prepareNodeNamespaces([...covered, ...folders])
  const commands = `ip link add eth0 type veth peer name outside
    ip addr add ${machineAddress}/24 dev eth0
    ip addr add ${machineAddress6}/64 dev eth0 nodad
    ip link set eth0 up
    ip link set outside up
    ip route add default via 192.0.2.1
    ip route add default via 2001:db8::1`
  execFileSync('sh', ['-ec', commands])
}

/** Starts `t8s up` with a real node. At the end, its containers end and its cgroups are removed. */
export async function startRealCluster(t: Lifetime, data: string, flags: readonly string[]): Promise<Running> {
  const { cgroup } = embeddedRuntime(dataDirectoryPaths(data).node)
  let cluster: Running | undefined
  t.after(async () => {
    cluster?.process.kill('SIGKILL')
    await cluster?.exited
    const tree = findCgroups()
    if (tree.missing(cgroup).length > 0) return
    await waitFor('no process is left', () => {
      const pids = tree.processes(cgroup)
      for (const pid of pids) kill(pid)
      return pids.length === 0
    })
    await tree.remove(cgroup)
  })
  cluster = await up(t, ['--node-type=real', '--data-dir', data, '--secure-port=0', ...flags])
  return cluster
}

/** Containers end also by themselves. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}
