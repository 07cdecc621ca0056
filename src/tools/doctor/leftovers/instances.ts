/** Real nodes of this machine that run, by the sockets of their runtimes. */
import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** The name of an instance: the part of the paths of its files that differs. */
const socket = /\/run\/typernetes\/([0-9a-f]{12})\/runtime\.sock$/

/** Returns the names in a list of sockets (`/proc/PID/net/unix`). */
export const instancesIn = (sockets: string): readonly string[] =>
  sockets.split('\n').flatMap((line) => socket.exec(line)?.[1] ?? [])

/**
 * Returns the names of instances whose runtime listens. Lists sockets by network namespace, so that clusters in
 * containers and with other folders below `/run` are known too.
 */
export function runningInstances(): ReadonlySet<string> {
  const namespaces = new Set<string>()
  const names = new Set<string>()
  for (const process of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      const namespace = readlinkSync(`/proc/${process}/ns/net`)
      if (namespaces.has(namespace)) continue
      for (const name of instancesIn(readFileSync(`/proc/${process}/net/unix`, 'latin1'))) names.add(name)
      namespaces.add(namespace)
    } catch {
      // The process has ended, or is another user's.
    }
  }
  return names
}
