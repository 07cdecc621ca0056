/** The part of a process in user namespaces: its network, and its end with the process outside. */
import { connect } from 'node:net'
import { join } from 'node:path'
import { systemCalls } from '../../lib/linux/system-calls.ts'
import { socketFolder } from '../../lib/rootless/socket-folder.ts'
import { enableLoopback } from '../../network/cni/plugin/loopback.ts'
import { portsSocket } from './ports/port-messages.ts'

/** Prepares a process that `runInNamespaces` has started. Does nothing for others. */
export function startInside(): void {
  const folder = socketFolder()
  if (folder === undefined) return
  enableLoopback(systemCalls(), '/proc/self/ns/net')
  // Without the process outside, no signal of the user reaches this one.
  connect(join(folder, portsSocket))
    .on('error', () => {})
    .once('close', () => process.kill(process.pid, 'SIGTERM'))
    .unref()
}
