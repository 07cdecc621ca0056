/** Moves the sockets of this process into the network namespace of another one. Needs root. */
import { closeSync, openSync } from 'node:fs'
import { newNetwork, systemCalls } from '../../../src/lib/linux/system-calls.ts'

/** Later sockets of the main thread are in the namespace; those that are open remain in the old one. */
export function enterNetwork(pid: number): void {
  const file = openSync(`/proc/${pid}/ns/net`, 'r')
  try {
    systemCalls().setNamespace(file, newNetwork)
  } finally {
    closeSync(file)
  }
}
