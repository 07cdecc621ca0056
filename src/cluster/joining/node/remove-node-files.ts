/** Removes what a node has left on its machine: containers, mounts, interfaces, rules, routes, cgroups, files. */
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { mountCalls } from '../../../lib/linux/mount-calls.ts'
import { messageOf } from '../../../lib/message-of.ts'
import { findCgroups } from '../../../node/cgroups/tree/find-cgroups.ts'
import { policyBackends, usablePolicyMode } from '../../policy/policy-backends.ts'
import { removeFlannel } from '../../real-node/services/embedded-flannel.ts'
import { removeProxyRules } from '../../real-node/services/embedded-proxy.ts'
import { type EmbeddedRuntime, embeddedRuntime, pluginFolders } from '../../real-node/settings/embedded-runtime.ts'
import { nodeFiles } from './joined-task.ts'

type Log = (line: string) => void

/** The node's files are in `folder`. What cannot be removed is logged. No process of the node may run. */
export async function removeNodeFiles(folder: string, log: Log): Promise<void> {
  const runtime = embeddedRuntime(folder)
  const files = nodeFiles(folder)
  const step = async (what: string, run: () => void | Promise<void>): Promise<boolean> => {
    try {
      await run()
      return true
    } catch (error) {
      log(`${what} of the node remain: ${messageOf(error)}`)
      return false
    }
  }
  await step('containers', () => removePods(runtime, log))
  const isUnmounted = await step('volumes', () => unmountBelow([files.kubelet, runtime.state, runtime.root]))
  await step('rules of Services', () => removeProxyRules(files.proxyRecord, runtime, log))
  await step('rules of network policies', () => removePolicyRules(runtime.name))
  await step('routes', () => removeFlannel(files.flannel))
  await step('cgroups', () => findCgroups().remove(runtime.cgroup))
  // The files of a volume that is still mounted are not the node's.
  if (!isUnmounted) return
  await step('files', () => {
    for (const path of [folder, runtime.state]) rmSync(path, { recursive: true, force: true })
  })
}

/** A runtime takes over the containers, and removes them with their networks. */
async function removePods(runtime: EmbeddedRuntime, log: Log): Promise<void> {
  if (!existsSync(runtime.root)) return
  const { startStandaloneRuntime } = await import('../../../runtime/standalone-runtime.ts')
  const { endpoint, root, state, imageRoot: imageFolder, bridge } = runtime
  const network = { ...pluginFolders, bridge }
  const running = await startStandaloneRuntime({ endpoint, root, state, imageFolder, network, streamPort: 0, log })
  try {
    await running.stopPods(0)
  } finally {
    await running.stop()
  }
}

/** Unmounts what is mounted in folders, the last mount first. */
function unmountBelow(folders: readonly string[]): void {
  const mounted = readFileSync('/proc/self/mountinfo', 'utf8')
    .split('\n')
    .map((line) =>
      (line.split(' ')[4] ?? '').replace(/\\([0-7]{3})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 8))),
    )
    .filter((path) => folders.some((folder) => path.startsWith(`${folder}/`)))
  const { unmount } = mountCalls()
  for (const path of mounted.reverse()) unmount(path)
}

async function removePolicyRules(instance: string): Promise<void> {
  const backends = policyBackends(await usablePolicyMode(undefined), instance)
  for (const backend of Object.values(backends)) await backend.remove()
}
